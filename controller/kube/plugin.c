#include "controller/kube/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/instant.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/json.h"
#include "controller/kube/source.h"

enum { OUTPUT_CEILING = 1024 * 1024, TREE_CEILING = 8 * 1024 * 1024 };

struct plugin {
	struct ev_loop *loop;
	const struct kube_config *config;
	plugin_done_fn *done;
	void *ctx;
	pid_t pid; /* 0: reaped */
	int out;   /* the read end of the plugin's stdout; -1: at its end */
	int pidfd;
	ev_io out_io, exit_io;
	ev_timer timer;
	struct buf output;
	int64_t timeout_ms;
	bool late; /* killed by the timer */
};

static int read_pem(const cJSON *status, const char *field, char **ret_text, struct err *err)
{
	const char *text = json_text(status, field);
	if (text && !strstr(text, "-----BEGIN "))
		return err_set(err, ERR_INVALID, "status.%s is not PEM", field);
	*ret_text = text && *text ? mem_strdup(text) : NULL;
	return 0;
}

static int read_status(const cJSON *status, struct plugin_result *r)
{
	const char *token = json_text(status, "token");
	const char *expires = json_text(status, "expirationTimestamp");
	int64_t expires_ms = 0;
	if (token && *token && !source_is_token(token))
		return err_set(&r->err, ERR_INVALID,
			"status.token holds blanks or characters that no token has");
	r->token = token && *token ? mem_strdup(token) : NULL;
	int rc = read_pem(status, "clientCertificateData", &r->cert, &r->err);
	if (rc == 0)
		rc = read_pem(status, "clientKeyData", &r->key, &r->err);
	if (rc < 0)
		return rc;
	if (!r->cert != !r->key)
		return err_set(&r->err, ERR_INVALID,
			"clientCertificateData and clientKeyData are needed together");
	if (!r->token && !r->cert)
		return err_set(&r->err, ERR_INVALID, "status holds no token and no certificate");
	if (expires && !instant_parse(slice_of(expires), &expires_ms))
		return err_set(
			&r->err, ERR_INVALID, "status.expirationTimestamp is no RFC 3339 time");
	r->expires_at = (double)(expires_ms / 1000);
	return 0;
}

static void forget_result(struct plugin_result *r)
{
	source_forget(r->token);
	source_forget(r->cert);
	source_forget(r->key);
	r->token = r->cert = r->key = NULL;
}

void plugin_read(struct slice text, const char *api_version, struct plugin_result *r)
{
	const cJSON *root;
	struct json *j = json_new(TREE_CEILING);
	*r = (struct plugin_result){0};
	r->code = json_parse(j, text, &root, &r->err);
	if (r->code == 0) {
		const char *kind = json_text(root, "kind"), *v = json_text(root, "apiVersion");
		if (!kind || strcmp(kind, "ExecCredential") != 0 || !v ||
			strcmp(v, api_version) != 0)
			r->code = err_set(&r->err, ERR_INVALID,
				"it printed no ExecCredential of %s", api_version);
		else
			r->code = read_status(json_object(root, "status"), r);
	}
	if (r->code < 0)
		forget_result(r);
	json_free(j);
}

static void stop_reading(struct plugin *p)
{
	ev_io_stop(p->loop, &p->out_io);
	if (p->out >= 0)
		close(p->out);
	p->out = -1;
}

/* Takes the bytes that are in the pipe. False at its end, or when the plugin says too much. */
static bool drain(struct plugin *p)
{
	char chunk[4096];
	for (;;) {
		ssize_t n = read(p->out, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0)
			return false;
		buf_add(&p->output, chunk, (size_t)n);
		explicit_bzero(chunk, (size_t)n);
		if (p->output.failed)
			return false;
	}
}

static void on_output(struct ev_loop *loop, ev_io *io, int revents)
{
	struct plugin *p = io->data;
	(void)loop;
	(void)revents;
	if (drain(p))
		return;
	stop_reading(p);
	if (p->output.failed)
		kill(-p->pid, SIGKILL);
}

static void explain(const struct plugin *p, int status, struct plugin_result *r)
{
	if (p->output.failed)
		r->code = err_set(
			&r->err, ERR_LIMIT, "it printed more than %d bytes", OUTPUT_CEILING);
	else if (p->late)
		r->code = err_set(&r->err, ERR_BUSY, "it did not end within %lld ms",
			(long long)p->timeout_ms);
	else if (WIFSIGNALED(status))
		r->code = err_set(&r->err, ERR_INVALID, "it died of signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		r->code = err_set(&r->err, ERR_INVALID,
			"it ended with exit code %d; run it by hand to see why",
			WEXITSTATUS(status));
	else
		plugin_read(buf_slice(&p->output), p->config->plugin->api_version, r);
	if (r->code < 0)
		err_wrap(&r->err, "%s: credential plugin %.80s", p->config->origin,
			p->config->plugin->command);
}

/* Takes the end of the plugin. A grandchild may hold its stdout open: what is in the pipe now is
 * all. */
static void on_exit_of_plugin(struct ev_loop *loop, ev_io *io, int revents)
{
	struct plugin *p = io->data;
	struct plugin_result result = {0};
	int status = 0;
	(void)revents;
	if (waitpid(p->pid, &status, WNOHANG) == 0)
		return;
	if (p->out >= 0)
		drain(p);
	p->pid = 0;
	ev_io_stop(loop, &p->exit_io);
	ev_timer_stop(loop, &p->timer);
	stop_reading(p);
	explain(p, status, &result);
	p->done(&result, p->ctx);
}

static void on_late(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct plugin *p = timer->data;
	(void)loop;
	(void)revents;
	p->late = true;
	kill(-p->pid, SIGKILL); /* exit_io follows */
}

/* Makes KUBERNETES_EXEC_INFO: what the plugin may know of the cluster. */
static char *exec_info(const struct kube_config *c)
{
	struct buf b;
	char *ca = NULL;
	buf_init(&b, SIZE_MAX / 2);
	buf_puts(&b, "KUBERNETES_EXEC_INFO=");
	struct json_writer w = json_writer_object(&b);
	jw_texts(&w, "kind", "ExecCredential", "apiVersion", c->plugin->api_version, NULL);
	jw_object(&w, "spec");
	jw_bool(&w, "interactive", false);
	if (c->plugin->provide_cluster_info) {
		jw_object(&w, "cluster");
		jw_text(&w, "server", c->server);
		if (c->tls_server_name)
			jw_text(&w, "tls-server-name", c->tls_server_name);
		if (source_read(&c->ca, &ca, NULL) == 0 && ca) {
			char *coded = source_to_base64(ca);
			jw_text(&w, "certificate-authority-data", coded);
			free(coded);
		}
	}
	jw_close(&w);
	free(ca);
	return buf_take(&b);
}

static bool same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");
	return strncmp(a, b, n + 1) == 0;
}

static bool is_set(char **list, size_t n, const char *entry)
{
	for (size_t i = 0; i < n; i++)
		if (same_name(list[i], entry))
			return true;
	return false;
}

/* Whether a variable stays from plugins: libpq's (PG*), where our database password is. A plugin
 * that needs one is given it in the kubeconfig. */
static bool is_secret(const char *entry)
{
	return strncmp(entry, "PG", 2) == 0;
}

/* Makes the environment: the configured names, then KUBERNETES_EXEC_INFO, then what of ours is
 * neither overridden nor secret. The caller frees the array and its info, which is returned. */
static char **make_env(const struct kube_config *c, char **ret_info)
{
	size_t n = 0, own = 0, given = 0;
	while (environ[own])
		own++;
	while (c->plugin->env && c->plugin->env[given])
		given++;
	char **env = mem_array(own + given + 2, sizeof(*env));
	for (size_t i = given; i-- > 0;) /* of a repeated name the last counts */
		if (!is_set(env, n, c->plugin->env[i]))
			env[n++] = c->plugin->env[i];
	*ret_info = exec_info(c);
	if (!is_set(env, n, *ret_info))
		env[n++] = *ret_info;
	for (size_t i = 0, set = n; i < own; i++)
		if (!is_set(env, set, environ[i]) && !is_secret(environ[i]))
			env[n++] = environ[i];
	return env;
}

static char **make_args(const struct kube_plugin *plugin)
{
	size_t n = 0;
	while (plugin->args && plugin->args[n])
		n++;
	char **argv = mem_array(n + 2, sizeof(*argv));
	argv[0] = plugin->command;
	for (size_t i = 0; i < n; i++)
		argv[i + 1] = plugin->args[i];
	return argv;
}

static int spawn(const struct kube_config *c, int out, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, reset;
	char *info, **env = make_env(c, &info), **argv = make_args(c->plugin);
	sigemptyset(&none);
	sigemptyset(&reset);
	sigaddset(&reset, SIGPIPE); /* we ignore it, and that would be inherited */
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &reset);
	posix_spawnattr_setflags(
		&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int rc = posix_spawnp(ret_pid, c->plugin->command, &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	free(argv);
	free(env);
	free(info);
	return rc;
}

static void watch(struct plugin *p)
{
	ev_io_init(&p->out_io, on_output, p->out, EV_READ);
	p->out_io.data = p;
	ev_io_start(p->loop, &p->out_io);
	ev_io_init(&p->exit_io, on_exit_of_plugin, p->pidfd, EV_READ);
	p->exit_io.data = p;
	ev_io_start(p->loop, &p->exit_io);
	ev_now_update(p->loop);
	ev_timer_init(&p->timer, on_late, (double)p->timeout_ms / 1000.0, 0.);
	p->timer.data = p;
	ev_timer_start(p->loop, &p->timer);
}

static int start(struct plugin *p, struct err *err)
{
	const struct kube_plugin *plugin = p->config->plugin;
	int pipes[2];
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return err_set(err, ERR_BUSY, "no pipe: %s", strerror(errno));
	p->out = pipes[0];
	fcntl(p->out, F_SETFL, O_NONBLOCK);
	int rc = spawn(p->config, pipes[1], &p->pid);
	close(pipes[1]);
	if (rc != 0) {
		p->pid = 0;
		return err_set(err, ERR_INVALID, "cannot be run: %s%s%.200s", strerror(rc),
			plugin->install_hint ? ". " : "",
			plugin->install_hint ? plugin->install_hint : "");
	}
	/* A pidfd rather than ev_child: that works on the default loop only, and takes SIGCHLD. */
	p->pidfd = pidfd_open(p->pid, 0);
	if (p->pidfd < 0)
		return err_set(err, ERR_BUSY, "no pidfd: %s", strerror(errno));
	return 0;
}

struct plugin *plugin_new(struct ev_loop *loop, const struct kube_config *config,
	int64_t timeout_ms, plugin_done_fn *done, void *ctx, struct err *err)
{
	struct plugin *p = mem_alloc(sizeof(*p));
	*p = (struct plugin){.loop = loop,
		.config = config,
		.done = done,
		.ctx = ctx,
		.timeout_ms = timeout_ms,
		.out = -1,
		.pidfd = -1};
	buf_init(&p->output, OUTPUT_CEILING);
	must(config->plugin);
	if (start(p, err) < 0) {
		err_wrap(err, "%s: credential plugin %.80s", config->origin,
			config->plugin->command);
		plugin_free(p);
		return NULL;
	}
	watch(p);
	return p;
}

void plugin_free(struct plugin *p)
{
	if (!p)
		return;
	if (p->pid > 0) {
		kill(-p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	ev_io_stop(p->loop, &p->exit_io);
	ev_timer_stop(p->loop, &p->timer);
	stop_reading(p);
	if (p->pidfd >= 0)
		close(p->pidfd);
	if (p->output.ptr)
		explicit_bzero(p->output.ptr, p->output.len);
	buf_done(&p->output);
	free(p);
}
