#include "controller/kube/kubeconfig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/kube/source.h"
#include "controller/kube/yaml.h"

struct file {
	char *path;
	struct yaml *yaml;
};

struct kubeconfig {
	struct file *file; /* all files, in the order of their rank */
	size_t count;
};

/* An entry of a file, with what sentences about it need. */
struct entry {
	const struct file *file;
	const char *kind; /* "context", "cluster", "user": also the key of its body */
	const char *name;
	const yaml_node_t *body;
};

struct kubeconfig *kubeconfig_new(void)
{
	return mem_alloc(sizeof(struct kubeconfig));
}

void kubeconfig_free(struct kubeconfig *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->count; i++) {
		free(k->file[i].path);
		yaml_tree_free(k->file[i].yaml);
	}
	free(k->file);
	free(k);
}

int kubeconfig_add(struct kubeconfig *k, const char *path, struct slice text, struct err *err)
{
	struct yaml *yaml;
	int rc = yaml_tree_new(text, &yaml, err);
	const yaml_node_t *root = rc < 0 ? NULL : yaml_tree_root(yaml);
	if (root && root->type != YAML_MAPPING_NODE) {
		yaml_tree_free(yaml);
		rc = err_set(err, ERR_INVALID, "not a kubeconfig: its top is no mapping");
	}
	if (rc < 0) {
		err_wrap(err, "kubeconfig %s", path);
		return rc;
	}
	k->file = mem_grow(k->file, k->count + 1, sizeof(*k->file));
	k->file[k->count++] = (struct file){mem_strdup(path), yaml};
	return 0;
}

/* Puts "kubeconfig F: user "u": " in front of what err says. */
static int entry_fail(const struct entry *e, struct err *err, int code)
{
	err_wrap(err, "kubeconfig %s: %s \"%.80s\"", e->file->path, e->kind, e->name);
	return code;
}

static const yaml_node_t *entry_get(const struct entry *e, const char *field)
{
	return yaml_tree_get(e->file->yaml, e->body, field);
}

/* Copies a field's text; NULL when absent or empty. */
static int entry_text(const struct entry *e, const char *field, char **ret_text, struct err *err)
{
	const yaml_node_t *node = entry_get(e, field);
	const char *text = yaml_tree_text(node);
	if (node && !text)
		return entry_fail(e, err, err_set(err, ERR_INVALID, "%s must be a text", field));
	*ret_text = text && *text ? mem_strdup(text) : NULL;
	return 0;
}

static bool entry_true(const struct entry *e, const char *field)
{
	const char *text = yaml_tree_text(entry_get(e, field));
	return text && (strcmp(text, "true") == 0 || strcmp(text, "True") == 0 ||
			       strcmp(text, "TRUE") == 0);
}

/* Looks in all files for the named entry of the list "<kind>s". */
static int find_entry(const struct kubeconfig *k, const char *kind, const char *name,
	struct entry *ret_entry, struct err *err)
{
	char list[16];
	snprintf(list, sizeof(list), "%ss", kind);
	for (size_t f = 0; f < k->count; f++) {
		struct yaml *y = k->file[f].yaml;
		const yaml_node_t *all = yaml_tree_get(y, yaml_tree_root(y), list), *item;
		for (size_t i = 0; (item = yaml_tree_item(y, all, i)); i++) {
			const char *n = yaml_tree_text(yaml_tree_get(y, item, "name"));
			if (!n || strcmp(n, name) != 0)
				continue;
			const yaml_node_t *body = yaml_tree_get(y, item, kind);
			*ret_entry = (struct entry){&k->file[f], kind, n, body};
			return 0;
		}
	}
	return err_set(err, ERR_INVALID,
		"kubeconfig %s%s: no %s \"%.80s\" in %s; add it or name another", k->file[0].path,
		k->count > 1 ? " and the others" : "", kind, name, list);
}

/* Makes a path relative to the directory of the file that it stands in. */
static char *resolve_path(const struct file *file, char *path)
{
	const char *slash = strrchr(file->path, '/');
	if (path[0] == '/' || !slash)
		return path;
	struct buf b;
	buf_init(&b, SIZE_MAX / 2);
	buf_add(&b, file->path, (size_t)(slash - file->path) + 1);
	buf_puts(&b, path);
	free(path);
	return buf_take(&b);
}

/* Reads "field-data" (base64) or "field" (a path); the data wins, as in client-go. */
static int entry_source(
	const struct entry *e, const char *field, struct kube_source *ret_source, struct err *err)
{
	char name[48], *coded = NULL;
	snprintf(name, sizeof(name), "%s-data", field);
	int rc = entry_text(e, name, &coded, err);
	if (rc < 0)
		return rc;
	if (!coded) {
		rc = entry_text(e, field, &ret_source->path, err);
		if (ret_source->path)
			ret_source->path = resolve_path(e->file, ret_source->path);
		return rc;
	}
	ret_source->data = source_base64(coded);
	source_forget(coded);
	if (!ret_source->data)
		return entry_fail(e, err,
			err_set(err, ERR_INVALID,
				"%s is not base64 of a text; put in the output of base64 -w0 FILE",
				name));
	return 0;
}

/* Fields that would change what we trust or our identity, and that we do not implement. To pass
 * over them would be worse than to stop. */
static const struct refusal {
	const char *kind, *field, *cure;
	bool only_if_true;
} refusals[] = {
	{"cluster", "insecure-skip-tls-verify",
		"is not supported: without it the identity of the API server is not checked; put its CA into certificate-authority-data",
		true},
	{"user", "auth-provider",
		"was removed from Kubernetes in 1.26; use an exec credential plugin", false},
	{"user", "username",
		"(basic authentication) was removed from Kubernetes in 1.19; use a token or a client certificate",
		false},
	{"user", "as", "(impersonation) is not supported; use that account's own credentials",
		false},
	{"user", "as-uid", "(impersonation) is not supported; use that account's own credentials",
		false},
	{"user", "as-groups",
		"(impersonation) is not supported; use that account's own credentials", false},
};

static int entry_refuse(const struct entry *e, struct err *err)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *r = &refusals[i];
		if (strcmp(r->kind, e->kind) != 0 || !entry_get(e, r->field))
			continue;
		if (r->only_if_true && !entry_true(e, r->field))
			continue;
		const char *text = yaml_tree_text(entry_get(e, r->field));
		if (text && !*text)
			continue;
		return entry_fail(e, err, err_set(err, ERR_INVALID, "%s %s", r->field, r->cure));
	}
	return 0;
}

static int read_cluster(const struct entry *e, struct kube_config *c, struct err *err)
{
	int rc = entry_refuse(e, err);
	if (rc == 0)
		rc = entry_text(e, "server", &c->server, err);
	if (rc == 0 && !c->server)
		rc = entry_fail(e, err,
			err_set(err, ERR_INVALID,
				"server is missing; give it as https://HOST:PORT"));
	if (rc == 0)
		rc = entry_text(e, "tls-server-name", &c->tls_server_name, err);
	if (rc == 0)
		rc = entry_text(e, "proxy-url", &c->proxy_url, err);
	if (rc == 0)
		rc = entry_source(e, "certificate-authority", &c->ca, err);
	return rc;
}

/* Makes "name=value"; NULL: the item has no name. */
static char *plugin_variable(struct yaml *y, const yaml_node_t *item)
{
	const char *name = yaml_tree_text(yaml_tree_get(y, item, "name"));
	const char *value = yaml_tree_text(yaml_tree_get(y, item, "value"));
	struct buf b;
	if (!name || !*name || strchr(name, '='))
		return NULL;
	buf_init(&b, SIZE_MAX / 2);
	buf_printf(&b, "%s=%s", name, value ? value : "");
	return buf_take(&b);
}

static char *plugin_argument(struct yaml *y, const yaml_node_t *item)
{
	(void)y;
	return mem_strdup(yaml_tree_text(item));
}

/* Reads the sequence of that name into a NULL-terminated array of what make gives. */
static int plugin_list(const struct entry *e, const yaml_node_t *exec, const char *name,
	char *(*make)(struct yaml *y, const yaml_node_t *item), const char *must, char ***ret_list,
	struct err *err)
{
	struct yaml *y = e->file->yaml;
	const yaml_node_t *all = yaml_tree_get(y, exec, name), *item;
	size_t n = 0;
	char **list = *ret_list = mem_array(1, sizeof(*list));
	for (; (item = yaml_tree_item(y, all, n)); n++) {
		*ret_list = list = mem_grow(list, n + 2, sizeof(*list));
		list[n] = make(y, item);
		list[n + 1] = NULL;
		if (!list[n])
			return err_set(err, ERR_INVALID, "exec.%s[%zu] %s", name, n, must);
	}
	return 0;
}

static int plugin_version(const char *version, struct err *err)
{
	if (version && (strcmp(version, "client.authentication.k8s.io/v1") == 0 ||
			       strcmp(version, "client.authentication.k8s.io/v1beta1") == 0))
		return 0;
	return err_set(err, ERR_INVALID,
		"exec.apiVersion is %.60s; it must be client.authentication.k8s.io/v1 or /v1beta1 (a newer release of the plugin has one of them)",
		version ? version : "missing");
}

static int fill_plugin(
	const struct entry *e, const yaml_node_t *exec, struct kube_plugin *p, struct err *err)
{
	struct yaml *y = e->file->yaml;
	const char *version = yaml_tree_text(yaml_tree_get(y, exec, "apiVersion"));
	const char *command = yaml_tree_text(yaml_tree_get(y, exec, "command"));
	const char *mode = yaml_tree_text(yaml_tree_get(y, exec, "interactiveMode"));
	const char *info = yaml_tree_text(yaml_tree_get(y, exec, "provideClusterInfo"));
	int rc = plugin_version(version, err);
	if (rc < 0)
		return rc;
	if (!command || !*command)
		return err_set(err, ERR_INVALID, "exec.command is missing");
	if (mode && strcmp(mode, "Always") == 0)
		return err_set(err, ERR_INVALID,
			"exec.interactiveMode is Always, but there is no terminal to ask on; use IfAvailable or Never");
	p->api_version = mem_strdup(version);
	p->command = mem_strdup(command);
	if (strchr(command, '/'))
		p->command = resolve_path(e->file, p->command);
	p->install_hint = mem_strdup(yaml_tree_text(yaml_tree_get(y, exec, "installHint")));
	p->provide_cluster_info = info && strcmp(info, "true") == 0;
	rc = plugin_list(e, exec, "args", plugin_argument, "must be a text", &p->args, err);
	if (rc == 0)
		rc = plugin_list(e, exec, "env", plugin_variable, "needs a name", &p->env, err);
	return rc;
}

static int read_plugin(const struct entry *e, struct kube_config *c, struct err *err)
{
	const yaml_node_t *exec = entry_get(e, "exec");
	if (!exec)
		return 0;
	if (exec->type != YAML_MAPPING_NODE)
		return entry_fail(e, err, err_set(err, ERR_INVALID, "exec must be a mapping"));
	c->plugin = mem_alloc(sizeof(*c->plugin));
	int rc = fill_plugin(e, exec, c->plugin, err);
	return rc < 0 ? entry_fail(e, err, rc) : 0;
}

static int read_token(const struct entry *e, struct kube_config *c, struct err *err)
{
	int rc = entry_text(e, "tokenFile", &c->token.path, err);
	if (rc < 0)
		return rc;
	if (c->token.path) { /* wins over token, as in client-go */
		c->token.path = resolve_path(e->file, c->token.path);
		return 0;
	}
	rc = entry_text(e, "token", &c->token.data, err);
	if (rc == 0 && c->token.data && !source_is_token(c->token.data))
		rc = entry_fail(e, err,
			err_set(err, ERR_INVALID,
				"token holds blanks or characters that no token has"));
	return rc;
}

static int read_user(const struct entry *e, struct kube_config *c, struct err *err)
{
	int rc = entry_refuse(e, err);
	if (rc == 0)
		rc = entry_source(e, "client-certificate", &c->cert, err);
	if (rc == 0)
		rc = entry_source(e, "client-key", &c->key, err);
	if (rc == 0 && (c->cert.data || c->cert.path) != (c->key.data || c->key.path))
		rc = entry_fail(e, err,
			err_set(err, ERR_INVALID,
				"client-certificate and client-key are needed together"));
	if (rc == 0)
		rc = read_token(e, c, err);
	if (rc == 0)
		rc = read_plugin(e, c, err);
	return rc;
}

/* Gives the context's name: what was asked for, or the first current-context. */
static const char *context_name(const struct kubeconfig *k, const char *asked)
{
	for (size_t f = 0; !asked && f < k->count; f++) {
		struct yaml *y = k->file[f].yaml;
		asked = yaml_tree_text(yaml_tree_get(y, yaml_tree_root(y), "current-context"));
		if (asked && !*asked)
			asked = NULL;
	}
	return asked;
}

static int read_context(const struct kubeconfig *k, const struct entry *context,
	struct kube_config *c, struct err *err)
{
	const char *cluster = yaml_tree_text(entry_get(context, "cluster"));
	const char *user = yaml_tree_text(entry_get(context, "user"));
	struct entry entry;
	if (!cluster || !*cluster)
		return entry_fail(context, err,
			err_set(err, ERR_INVALID, "cluster is missing; name one of clusters"));
	int rc = find_entry(k, "cluster", cluster, &entry, err);
	if (rc == 0)
		rc = read_cluster(&entry, c, err);
	if (rc == 0 && user && *user) {
		rc = find_entry(k, "user", user, &entry, err);
		if (rc == 0)
			rc = read_user(&entry, c, err);
	}
	if (rc == 0)
		rc = entry_text(context, "namespace", &c->namespace_name, err);
	return rc;
}

int kubeconfig_resolve(struct kubeconfig *k, const struct kube_config_options *options,
	struct kube_config **ret_config, struct err *err)
{
	must(k->count > 0);
	struct entry context;
	const char *name = context_name(k, options->context);
	if (!name)
		return err_set(err, ERR_INVALID,
			"kubeconfig %s: current-context is not set; run kubectl config use-context NAME, or pass --context",
			k->file[0].path);
	int rc = find_entry(k, "context", name, &context, err);
	if (rc < 0)
		return rc;
	struct kube_config *c = mem_alloc(sizeof(*c));
	rc = read_context(k, &context, c, err);
	if (rc < 0) {
		kube_config_free(c);
		return rc;
	}
	struct buf origin;
	buf_init(&origin, SIZE_MAX / 2);
	buf_printf(&origin, "context %s of %s", name, context.file->path);
	c->origin = buf_take(&origin);
	*ret_config = c;
	return 0;
}
