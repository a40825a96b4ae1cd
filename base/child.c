#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NICER = 10 };

pid_t child_fork(void)
{
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid == 0)
		return 0;
	int error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return pid;
}

static void keep_own_file(int fd)
{
	if (fd != CHILD_FD && dup3(fd, CHILD_FD, O_CLOEXEC) < 0)
		_exit(1);
	closefrom(CHILD_FD + 1); /* glibc falls back to /proc where close_range() is not there */
}

static void forget_handlers(void)
{
	static const int own[] = {SIGTERM, SIGINT, SIGCHLD, SIGALRM, SIGPIPE, SIGXCPU};
	sigset_t none;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		signal(own[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The memory that is copied counts for us, and without the child we can go on. (Where the kernel ends
 * a container as a whole, as Kubernetes sets it up on cgroup v2, this does not help.) */
static void go_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t ignored = write(fd, "1000", 4);
	(void)ignored;
	close(fd);
}

void child_begin(pid_t parent, int fd, const char *name)
{
	struct rlimit none = {0, 0};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0); /* it died before that */
	keep_own_file(fd);
	forget_handlers();
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_NAME, name);
	errno = 0;
	if (nice(NICER) == -1 && errno)
		errno = 0; /* then it is no nicer */
	go_first();
}
