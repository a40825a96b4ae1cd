#include "pg_fixture.h"

#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "base/must.h"

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "pg_fixture: %s\n", what);
	abort();
}

/* Debian keeps them out of PATH. The last in order is the newest. */
static void binary(char ret[256], const char *name)
{
	char pattern[128];
	snprintf(pattern, sizeof(pattern), "/usr/lib/postgresql/*/bin/%s", name);
	glob_t found;
	if (glob(pattern, 0, NULL, &found))
		die("no /usr/lib/postgresql/*/bin/postgres; on Debian: apt-get install "
		    "postgresql-15");
	snprintf(ret, 256, "%s", found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
}

static const struct passwd *servant(void)
{
	const struct passwd *pw = getpwnam("postgres");
	pw = pw ? pw : getpwnam("nobody");
	if (!pw)
		die("Postgres cannot run as root, and there is neither postgres nor nobody");
	return pw;
}

/* In the child: nobody special, quiet, and gone when the test is. */
static void become_servant(const char *dir)
{
	if (getuid() == 0) {
		const struct passwd *pw = servant();
		if (setgroups(0, NULL) || setgid(pw->pw_gid) || setuid(pw->pw_uid))
			_exit(126);
	}
	char log[96];
	snprintf(log, sizeof(log), "%s/log", dir);
	int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || chdir(dir))
		_exit(126);
	prctl(PR_SET_PDEATHSIG, SIGQUIT);
}

static pid_t spawn(const char *dir, const char *const argv[])
{
	pid_t parent = getpid();
	pid_t pid = fork();
	if (pid == 0) {
		become_servant(dir);
		if (getppid() == parent)
			execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	must(pid > 0);
	return pid;
}

static void initdb(struct pg_fixture *f)
{
	char program[256], data[96];
	binary(program, "initdb");
	snprintf(data, sizeof(data), "%s/data", f->dir);
	const char *argv[] = {program, "-D", data, "-U", "postgres", "--auth=trust",
		"--locale=C.UTF-8", "--no-sync", NULL};
	int status;
	pid_t pid = spawn(f->dir, argv);
	if (waitpid(pid, &status, 0) != pid || status)
		die("initdb failed");
}

void pg_fixture_restart(struct pg_fixture *f)
{
	char program[256], data[96], sockets[96];
	must(!f->postmaster);
	binary(program, "postgres");
	snprintf(data, sizeof(data), "%s/data", f->dir);
	snprintf(sockets, sizeof(sockets), "unix_socket_directories=%s", f->dir);
	const char *argv[] = {program, "-D", data, "-c", "listen_addresses=", "-c", sockets, "-c",
		f->fsync ? "fsync=on" : "fsync=off", "-c", "max_connections=40", NULL};
	f->postmaster = spawn(f->dir, argv);
	/* A condition, not a time: it answers or it ends. */
	while (PQping(f->conninfo) != PQPING_OK) {
		if (waitpid(f->postmaster, NULL, WNOHANG))
			die("postgres ended while starting");
		usleep(10000);
	}
}

void pg_fixture_start(struct pg_fixture *f, bool fsync)
{
	*f = (struct pg_fixture){.dir = "/tmp/sluice-pg-XXXXXX", .fsync = fsync};
	must(mkdtemp(f->dir));
	if (getuid() == 0)
		must(!chown(f->dir, servant()->pw_uid, servant()->pw_gid));
	snprintf(f->conninfo, sizeof(f->conninfo), "host=%s user=postgres dbname=postgres", f->dir);
	initdb(f);
	pg_fixture_restart(f);
}

void pg_fixture_shutdown(struct pg_fixture *f)
{
	kill(f->postmaster, SIGINT);
	must(waitpid(f->postmaster, NULL, 0) == f->postmaster);
	f->postmaster = 0;
}

/* Backends see the death of their postmaster and end; a stopped one must be woken for it. The next
 * postmaster refuses to start while one is left, so wait until the shared memory is free. */
void pg_fixture_crash(struct pg_fixture *f)
{
	kill(f->postmaster, SIGKILL);
	must(waitpid(f->postmaster, NULL, 0) == f->postmaster);
	f->postmaster = 0;
	char pattern[] = "/proc/[0-9]*/cwd", conn[256], data[96];
	snprintf(data, sizeof(data), "%s/data", f->dir);
	for (bool left = true; left; usleep(5000)) {
		glob_t found;
		left = false;
		if (glob(pattern, 0, NULL, &found))
			break;
		for (size_t i = 0; i < found.gl_pathc; i++) {
			ssize_t n = readlink(found.gl_pathv[i], conn, sizeof(conn) - 1);
			conn[n > 0 ? n : 0] = '\0';
			left |= !strcmp(conn, data);
		}
		globfree(&found);
	}
}

void pg_fixture_stop(struct pg_fixture *f)
{
	if (f->postmaster) {
		kill(f->postmaster, SIGQUIT);
		waitpid(f->postmaster, NULL, 0);
		f->postmaster = 0;
	}
	char rm[96];
	snprintf(rm, sizeof(rm), "rm -rf '%s'", f->dir);
	if (system(rm))
		fprintf(stderr, "pg_fixture: %s is left behind\n", f->dir);
}

const char *pg_fixture_sql(struct pg_fixture *f, const char *fmt, ...)
{
	static char value[65536];
	char sql[8192];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(sql, sizeof(sql), fmt, ap);
	va_end(ap);
	PGconn *c = PQconnectdb(f->conninfo);
	PGresult *r = PQexec(c, sql);
	ExecStatusType s = PQresultStatus(r);
	if (s != PGRES_TUPLES_OK && s != PGRES_COMMAND_OK) {
		fprintf(stderr, "%s\n%s", sql, PQerrorMessage(c));
		die("a statement of the test failed");
	}
	snprintf(value, sizeof(value), "%s",
		s == PGRES_TUPLES_OK && PQntuples(r) ? PQgetvalue(r, 0, 0) : "");
	PQclear(r);
	PQfinish(c);
	return value;
}

void pg_fixture_clear(const struct pg_fixture *f)
{
	PGconn *c = PQconnectdb(f->conninfo);
	PQclear(PQexec(c, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
			  "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"));
	PQfinish(c);
}
