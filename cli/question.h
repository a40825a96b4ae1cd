/*
 * Questions to the API server, and the wait for each answer: for commands, which have nothing else
 * to do meanwhile.
 */
#ifndef SLUICE_CLI_QUESTION_H
#define SLUICE_CLI_QUESTION_H

#include "base/err.h"
#include "controller/kube/client.h"
#include "base/json.h"

struct ev_loop;

#define QUESTION_ANSWER_MAX ((size_t)64 << 20)
#define QUESTION_TREE_MAX ((size_t)256 << 20)

#define SLUICE_ROOT "/apis/sluice.dev/v1alpha1" /* Sluice's own kinds */

/* Makes a client for a command; yours to free. */
struct kube_client *question_client(struct ev_loop *loop, const struct kube_config *config);

/* Runs what a command has to ask, with a client for the cluster of the kubeconfig, in the given
 * namespace (NULL: the kubeconfig's). Returns what ask returns; ERR_INVALID: there is no
 * kubeconfig. */
typedef int question_fn(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, void *ctx, struct err *e);
int question_run(const struct kube_config_options *o, const char *namespace_name, question_fn *ask,
	void *ctx, struct err *e);

/* Runs a command by question_run() with a round, which asks, shows, and returns an exit code. With
 * watch a round comes every 2 seconds until one returns anything but CLI_OK; on a terminal each is
 * written over the one before. All have one client, so that a credential plugin is not run for
 * each. Returns what the last round did; without a kubeconfig it says so, and returns CLI_USAGE. */
typedef int question_round_fn(
	struct ev_loop *loop, struct kube_client *client, const char *namespace_name, void *ctx);
int question_command(const struct kube_config_options *o, const char *namespace_name, bool watch,
	question_round_fn *round, void *ctx);

/* Runs a command that prints what ask() appends to out, or its error. Returns the exit code; see
 * command_end(). */
typedef int question_answer_fn(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, void *options, struct buf *out, struct err *e);
int question_answer(const struct kube_config_options *o, const char *namespace_name,
	size_t most_bytes, question_answer_fn *ask, void *options);

/* Asks by GET; the tree lives in json. ERR_GONE: there is no such thing; ERR_BUSY: no answer;
 * ERR_DENIED: we may not; ERR_CONFLICT: for a write, the object was written meanwhile; ERR_INVALID:
 * what came makes no sense. */
int question_ask(struct ev_loop *loop, struct kube_client *client, const char *path,
	struct json *json, const cJSON **ret_root, struct err *e);

/* Asks for a path that is made of a format, as path_format() has it. */
int question_get(struct ev_loop *loop, struct kube_client *client, struct json *json,
	const cJSON **ret_root, struct err *e, const char *format, ...);

void question_pause(int ms);

/* True if this API group is served. A user without a right to a kind gets 403 whether the kind is
 * there or not, but all may read groups. */
bool question_group_is_served(
	struct ev_loop *loop, struct kube_client *client, const char *group, struct json *json);

/* Asks for a Job, as question_ask(). */
int question_job(struct ev_loop *loop, struct kube_client *client, const char *ns, const char *name,
	struct json *json, const cJSON **ret_job, struct err *e);

/* What came with an answer besides its tree. */
struct question_facts {
	int http_status; /* 0: no answer came */
	int64_t date_ms; /* the server's clock, in whole seconds; 0: not told */
	/* From the Status object of a failure; "" where none came. */
	char reason[48];   /* "NotFound", "Forbidden", ... */
	char message[400]; /* cut to fit */
};

enum { QUESTION_USER_SIZE = 100 };
/* Reads the user's name in the sentence of a 403. False, and "USER": it is no such sentence, or no
 * name that can stand in a command. */
bool question_refused_user(const struct question_facts *f, char ret[QUESTION_USER_SIZE]);

/* Sends any request, as question_ask(). *ret_facts is set whatever the outcome. */
int question_send(struct ev_loop *loop, struct kube_client *client, const struct kube_request *r,
	struct json *json, const cJSON **ret_root, struct question_facts *ret_facts, struct err *e);

/* Gets a list page by page, and gives each item to take, for the call; json is not to be used in
 * it. path may have a query. Pages of large objects are made smaller. ret_facts: of the last
 * answer; NULL is fine. Errors as question_ask(). */
typedef void question_item_fn(const cJSON *item, void *ctx);
int question_each(struct ev_loop *loop, struct kube_client *client, struct json *json,
	const char *path, question_item_fn *take, void *ctx, struct question_facts *ret_facts,
	struct err *e);

/* Appends the answer as it came, a refusal as well. Errors as question_ask(). */
int question_text(struct ev_loop *loop, struct kube_client *client, const struct kube_request *r,
	struct buf *out, struct err *e);

/* Sends a PATCH of which only the outcome is wanted. ret_facts may be NULL. */
int question_patch(struct ev_loop *loop, struct kube_client *client, const char *path,
	const char *content_type, const struct buf *body, struct question_facts *ret_facts,
	struct err *e);

#endif
