#include "cli/question.h"

#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "controller/common/path.h"

enum { WATCH_MS = 2000 };

struct kube_client *question_client(struct ev_loop *loop, const struct kube_config *config)
{
	return kube_client_new(loop, config,
		&(struct kube_client_options){
			.user_agent = "sluice", .answer_ceiling = QUESTION_ANSWER_MAX});
}

int question_run(const struct kube_config_options *o, const char *namespace_name, question_fn *ask,
	void *ctx, struct err *e)
{
	struct kube_config *config;
	if (kube_config_load(o, &config, e) < 0)
		return ERR_INVALID;
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct kube_client *client = question_client(loop, config);
	int rc =
		ask(loop, client, namespace_name ? namespace_name : config->namespace_name, ctx, e);
	kube_client_free(client);
	ev_loop_destroy(loop);
	kube_config_free(config);
	return rc;
}

struct rounds {
	bool watch;
	question_round_fn *round;
	void *ctx;
	int exit_code; /* of the last round */
};

static int go_round(
	struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx, struct err *e)
{
	struct rounds *r = ctx;
	bool screen = r->watch && isatty(STDOUT_FILENO);
	(void)e;
	for (;;) {
		if (screen)
			fputs("\033[H", stdout);
		r->exit_code = r->round(loop, client, ns, r->ctx);
		if (screen)
			fputs("\033[J", stdout); /* clears what is left of the last round */
		if (!r->watch || r->exit_code != CLI_OK || fflush(stdout) != 0)
			return 0;
		question_pause(WATCH_MS);
		if (!screen)
			putchar('\n');
	}
}

int question_command(const struct kube_config_options *o, const char *namespace_name, bool watch,
	question_round_fn *round, void *ctx)
{
	struct rounds r = {.watch = watch, .round = round, .ctx = ctx};
	struct err e = {""};
	if (question_run(o, namespace_name, go_round, &r, &e) == 0)
		return r.exit_code;
	command_fail(ERR_INVALID, &e);
	return CLI_USAGE;
}

struct answered {
	question_answer_fn *ask;
	void *options;
	struct buf out;
};

static int ask_for_answer(
	struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx, struct err *e)
{
	struct answered *a = ctx;
	return a->ask(loop, client, ns, a->options, &a->out, e);
}

int question_answer(const struct kube_config_options *o, const char *namespace_name,
	size_t most_bytes, question_answer_fn *ask, void *options)
{
	struct answered a = {.ask = ask, .options = options};
	struct err e = {""};
	buf_init(&a.out, most_bytes);
	int code = command_end(question_run(o, namespace_name, ask_for_answer, &a, &e), &a.out, &e);
	buf_done(&a.out);
	return code;
}

enum { QUESTION_STATUS_TREE_MAX = 1 << 20 };

struct answer {
	struct ev_loop *loop;
	bool came;
	enum kube_outcome outcome;
	char *body; /* ours */
	size_t len;
	struct question_facts facts;
	char sentence[400];
};

static void read_status(struct slice body, struct question_facts *ret)
{
	struct json *j = json_new(QUESTION_STATUS_TREE_MAX);
	const cJSON *root;
	if (json_parse(j, body, &root, NULL) == 0) {
		const char *reason = json_text(root, "reason"),
			   *message = json_text(root, "message");
		snprintf(ret->reason, sizeof(ret->reason), "%s", reason ? reason : "");
		snprintf(ret->message, sizeof(ret->message), "%s", message ? message : "");
	}
	json_free(j);
}

static void on_answer(const struct kube_answer *from, void *ctx)
{
	struct answer *to = ctx;
	to->came = true;
	to->outcome = from->outcome;
	to->body = mem_strndup(from->body.ptr ? from->body.ptr : "", from->body.len);
	to->len = from->body.len;
	to->facts =
		(struct question_facts){.http_status = from->http_status, .date_ms = from->date_ms};
	if (from->http_status >= 400)
		read_status(from->body, &to->facts);
	snprintf(to->sentence, sizeof(to->sentence), "%s", from->sentence);
	ev_break(to->loop, EVBREAK_ONE);
}

static int code_of(enum kube_outcome outcome)
{
	switch (outcome) {
	case KUBE_DONE:
		return 0;
	case KUBE_GONE:
		return ERR_GONE;
	case KUBE_DENIED:
		return ERR_DENIED;
	case KUBE_RETRY:
		return ERR_BUSY;
	case KUBE_CONFLICT:
		return ERR_CONFLICT;
	case KUBE_STALE:
	case KUBE_RELIST:
	case KUBE_IN_DOUBT:
	case KUBE_LIMIT:
	case KUBE_GIVE_UP:
		return ERR_INVALID;
	}
	return ERR_INVALID;
}

static void say(const struct kube_request *r, const char *sentence, int rc, struct err *e)
{
	const char *method = kube_method_name(r->method);
	if (strncmp(sentence, method, strlen(method)) == 0)
		err_set(e, rc, "%s", sentence);
	else
		err_set(e, rc, "%s %.200s: %s", method, r->path, sentence);
}

/* Sends r and waits. The body is yours to free. */
static int wait_for_answer(struct ev_loop *loop, struct kube_client *client,
	const struct kube_request *r, struct answer *ret, struct err *e)
{
	*ret = (struct answer){.loop = loop};
	kube_client_send(client, r, on_answer, ret);
	while (!ret->came)
		ev_run(loop, 0);
	int rc = code_of(ret->outcome);
	if (rc < 0)
		say(r, ret->sentence, rc, e);
	return rc;
}

int question_send(struct ev_loop *loop, struct kube_client *client, const struct kube_request *r,
	struct json *json, const cJSON **ret_root, struct question_facts *ret_facts, struct err *e)
{
	struct answer a;
	int rc = wait_for_answer(loop, client, r, &a, e);
	*ret_facts = a.facts;
	if (rc == 0)
		rc = json_parse(json, (struct slice){a.body, a.len}, ret_root, e);
	free(a.body);
	return rc;
}

int question_text(struct ev_loop *loop, struct kube_client *client, const struct kube_request *r,
	struct buf *out, struct err *e)
{
	struct answer a;
	int rc = wait_for_answer(loop, client, r, &a, e);
	buf_add(out, a.body, a.len);
	free(a.body);
	return rc;
}

/* The sentence is: ... is forbidden: User "bob" cannot ... */
bool question_refused_user(const struct question_facts *f, char ret[QUESTION_USER_SIZE])
{
	static const char
		before[] = "is forbidden: User \"",
		allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:@";
	const char *at = strstr(f->message, before);
	size_t len = at ? strspn(at + strlen(before), allowed) : 0;
	bool found = len > 0 && len < QUESTION_USER_SIZE && at[strlen(before) + len] == '"';
	if (found)
		snprintf(ret, QUESTION_USER_SIZE, "%.*s", (int)len, at + strlen(before));
	else
		snprintf(ret, QUESTION_USER_SIZE, "USER");
	return found;
}

int question_ask(struct ev_loop *loop, struct kube_client *client, const char *path,
	struct json *json, const cJSON **ret_root, struct err *e)
{
	struct question_facts facts;
	const struct kube_request r = {
		.method = KUBE_GET, .path = path, .answer_ceiling = QUESTION_ANSWER_MAX};
	return question_send(loop, client, &r, json, ret_root, &facts, e);
}

enum { PAGE = 500, TOKEN_MAX_BYTES = 2048 };

static bool is_too_large(int rc, const struct question_facts *f)
{
	return (rc == ERR_INVALID || rc == ERR_LIMIT) && f->http_status / 100 == 2;
}

/* Asks for a page. token: where it begins; "": it is the first. */
static int ask_page(struct ev_loop *loop, struct kube_client *client, struct json *json,
	const char *list, const char *token, size_t *size, const cJSON **ret_root,
	struct question_facts *facts, struct err *e)
{
	struct buf path;
	const char *query = strchrnul(list, '?');
	int rc;
	buf_init(&path, PATH_MAX_BYTES + 3 * TOKEN_MAX_BYTES);
	do {
		buf_reset(&path);
		buf_printf(&path, "%.*s?limit=%zu%s%s", (int)(query - list), list, *size,
			*query ? "&" : "", *query ? query + 1 : "");
		if (*token)
			path_format(&path, "&continue=%s", token);
		const struct kube_request r = {.method = KUBE_GET,
			.path = buf_text(&path),
			.answer_ceiling = QUESTION_ANSWER_MAX};
		rc = question_send(loop, client, &r, json, ret_root, facts, e);
	} while (is_too_large(rc, facts) && *size > 1 && (*size = *size > 10 ? *size / 10 : 1));
	buf_done(&path);
	if (rc == ERR_GONE && *token)
		rc = err_set(e, ERR_BUSY,
			"GET %.200s: the list was so long in coming that the API server has forgotten it; try again",
			list);
	return rc;
}

int question_each(struct ev_loop *loop, struct kube_client *client, struct json *json,
	const char *path, question_item_fn *take, void *ctx, struct question_facts *ret_facts,
	struct err *e)
{
	struct question_facts facts;
	struct buf token;
	size_t size = PAGE;
	const cJSON *root;
	int rc;
	buf_init(&token, TOKEN_MAX_BYTES);
	do {
		rc = ask_page(loop, client, json, path, buf_text(&token), &size, &root, &facts, e);
		if (rc < 0)
			break;
		buf_reset(&token);
		buf_puts(&token, text_of(json_object(root, "metadata"), "continue"));
		if (token.failed)
			rc = err_set(e, ERR_INVALID,
				"GET %.200s: the token of the next page is too long", path);
		json_each(item, json_array(root, "items")) {
			take(item, ctx);
		}
	} while (rc == 0 && token.len > 0);
	if (ret_facts)
		*ret_facts = facts;
	buf_done(&token);
	return rc;
}

bool question_group_is_served(
	struct ev_loop *loop, struct kube_client *client, const char *group, struct json *json)
{
	char path[128];
	const cJSON *root;
	snprintf(path, sizeof(path), "/apis/%s", group);
	return question_ask(loop, client, path, json, &root, NULL) != ERR_GONE;
}

int question_get(struct ev_loop *loop, struct kube_client *client, struct json *json,
	const cJSON **ret_root, struct err *e, const char *format, ...)
{
	struct buf path;
	va_list ap;
	buf_init(&path, PATH_MAX_BYTES);
	va_start(ap, format);
	path_vformat(&path, format, ap);
	va_end(ap);
	int rc = question_ask(loop, client, buf_text(&path), json, ret_root, e);
	buf_done(&path);
	return rc;
}

int question_job(struct ev_loop *loop, struct kube_client *client, const char *ns, const char *name,
	struct json *json, const cJSON **ret_job, struct err *e)
{
	return question_get(
		loop, client, json, ret_job, e, "/apis/batch/v1/namespaces/%s/jobs/%s", ns, name);
}

void question_pause(int ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

int question_patch(struct ev_loop *loop, struct kube_client *client, const char *path,
	const char *content_type, const struct buf *body, struct question_facts *ret_facts,
	struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	struct question_facts facts;
	const cJSON *root;
	const struct kube_request r = {.method = KUBE_PATCH,
		.path = path,
		.content_type = content_type,
		.body = buf_slice(body)};
	int rc = question_send(loop, client, &r, json, &root, ret_facts ? ret_facts : &facts, e);
	json_free(json);
	return rc;
}
