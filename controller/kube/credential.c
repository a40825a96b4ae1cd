#include "controller/kube/credential.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "controller/kube/plugin.h"
#include "controller/kube/source.h"

struct kube_credential {
	struct ev_loop *loop;
	const struct kube_config *config;
	struct kube_credential_options options;
	void (*changed)(void *ctx);
	void *ctx;
	enum kube_credential_state state;
	uint64_t generation;
	char *ca, *cert, *key, *token; /* from the files or the kubeconfig */
	double read_at;		       /* when the files were read last; 0: never */
	struct plugin *plugin;	       /* running, or the last one that ended */
	char *got_token, *got_cert, *got_key;
	double ran_at, fresh_until; /* by wall clock, of the plugin; 0: never */
	bool stale;		    /* a 401: what the plugin gave is not good any more */
	struct err error;
};

static int64_t or_default(int64_t value, int64_t otherwise)
{
	return value > 0 ? value : otherwise;
}

struct kube_credential *kube_credential_new(struct ev_loop *loop, const struct kube_config *config,
	const struct kube_credential_options *options, void (*changed)(void *ctx), void *ctx)
{
	struct kube_credential *c = mem_alloc(sizeof(*c));
	*c = (struct kube_credential){
		.loop = loop, .config = config, .changed = changed, .ctx = ctx};
	c->options.reread_ms = or_default(options->reread_ms, 60000);
	c->options.plugin_timeout_ms = or_default(options->plugin_timeout_ms, 60000);
	c->options.plugin_pause_ms = or_default(options->plugin_pause_ms, 5000);
	c->options.early_ms = or_default(options->early_ms, 10000);
	return c;
}

static void forget_got(struct kube_credential *c)
{
	source_forget(c->got_token);
	source_forget(c->got_cert);
	source_forget(c->got_key);
	c->got_token = c->got_cert = c->got_key = NULL;
}

void kube_credential_free(struct kube_credential *c)
{
	if (!c)
		return;
	plugin_free(c->plugin);
	forget_got(c);
	source_forget(c->ca);
	source_forget(c->cert);
	source_forget(c->key);
	source_forget(c->token);
	free(c);
}

/* Reads one source again. A source that cannot be read keeps its old text: a rotation may be under
 * way, and a file that is gone for good shows as a 401 soon enough. */
static int reread(
	const struct kube_source *source, bool token, char **text, bool *changed, struct err *err)
{
	char *fresh = NULL;
	int rc = source_read(source, &fresh, err);
	if (rc == 0 && fresh && token)
		source_trim(fresh);
	if (rc == 0 && fresh && token && !source_is_token(fresh))
		rc = err_set(err, ERR_INVALID, "%s holds no token", source->path);
	bool same = rc < 0 || (!fresh && !*text) || (fresh && *text && strcmp(fresh, *text) == 0);
	if (same) {
		source_forget(fresh);
		return rc < 0 && !*text ? rc : 0;
	}
	source_forget(*text);
	*text = fresh;
	*changed = true;
	return 0;
}

static void reread_all(struct kube_credential *c)
{
	const struct kube_config *config = c->config;
	bool changed = c->generation == 0;
	int rc = reread(&config->ca, false, &c->ca, &changed, &c->error);
	if (rc == 0)
		rc = reread(&config->cert, false, &c->cert, &changed, &c->error);
	if (rc == 0)
		rc = reread(&config->key, false, &c->key, &changed, &c->error);
	if (rc == 0)
		rc = reread(&config->token, true, &c->token, &changed, &c->error);
	c->read_at = ev_now(c->loop);
	if (changed)
		c->generation++;
	if (rc < 0)
		err_wrap(&c->error, "%s", config->origin);
	c->state = rc < 0 ? CREDENTIAL_FAILED : CREDENTIAL_READY;
}

static void plugin_done(struct plugin_result *r, void *ctx)
{
	struct kube_credential *c = ctx;
	must(c->state == CREDENTIAL_RUNNING);
	double now = ev_now(c->loop), pause = (double)c->options.plugin_pause_ms / 1000.0;
	c->ran_at = now;
	c->error = r->err;
	c->state = r->code < 0 ? CREDENTIAL_FAILED : CREDENTIAL_READY;
	c->fresh_until = now + pause; /* no credential is so short-lived that it makes us spin */
	if (r->code == 0) {
		forget_got(c);
		c->got_token = r->token;
		c->got_cert = r->cert;
		c->got_key = r->key;
		c->stale = false;
		c->generation++;
		double until = r->expires_at - (double)c->options.early_ms / 1000.0;
		if (r->expires_at <= 0)
			c->fresh_until = 1e18;
		else if (until > c->fresh_until)
			c->fresh_until = until;
	}
	c->changed(c->ctx);
}

static void run_plugin(struct kube_credential *c)
{
	plugin_free(c->plugin);
	c->plugin = plugin_new(
		c->loop, c->config, c->options.plugin_timeout_ms, plugin_done, c, &c->error);
	c->state = c->plugin ? CREDENTIAL_RUNNING : CREDENTIAL_FAILED;
	c->ran_at = ev_now(c->loop);
	if (!c->plugin)
		c->fresh_until = c->ran_at + (double)c->options.plugin_pause_ms / 1000.0;
}

enum kube_credential_state kube_credential_check(struct kube_credential *c)
{
	double now = ev_now(c->loop);
	if (c->state == CREDENTIAL_RUNNING)
		return c->state;
	bool plugin_failed = c->state == CREDENTIAL_FAILED && c->config->plugin && c->ran_at > 0;
	if (plugin_failed && now < c->fresh_until && now >= c->ran_at)
		return c->state;
	if (c->read_at <= 0 || now < c->read_at ||
		(now - c->read_at) * 1000.0 >= (double)c->options.reread_ms ||
		c->state == CREDENTIAL_FAILED)
		reread_all(c);
	if (c->state == CREDENTIAL_READY && c->config->plugin &&
		(c->stale || now >= c->fresh_until))
		run_plugin(c);
	return c->state;
}

bool kube_credential_refused(struct kube_credential *c, uint64_t generation)
{
	if (c->state == CREDENTIAL_RUNNING || generation != c->generation)
		return true;
	uint64_t before = c->generation;
	reread_all(c);
	if (c->generation != before)
		return true;
	double since = ev_now(c->loop) - c->ran_at;
	if (!c->config->plugin || since * 1000.0 < (double)c->options.plugin_pause_ms)
		return false; /* it has just run, and this is what it gave */
	c->stale = true;
	return true;
}

const char *kube_credential_token(const struct kube_credential *c)
{
	return c->got_token ? c->got_token : c->token;
}

const char *kube_credential_cert(const struct kube_credential *c)
{
	return c->got_cert ? c->got_cert : c->cert;
}

const char *kube_credential_key(const struct kube_credential *c)
{
	return c->got_cert ? c->got_key : c->key;
}

const char *kube_credential_ca(const struct kube_credential *c)
{
	return c->ca;
}

uint64_t kube_credential_generation(const struct kube_credential *c)
{
	return c->generation;
}

const char *kube_credential_error(const struct kube_credential *c)
{
	return c->state == CREDENTIAL_FAILED ? c->error.text : "";
}
