/*
 * The way of `sluice cost`, `report` and `history` from a question to what is printed. Each has a
 * past_view for what is its own.
 *
 * The resources costs, reports and histories of the API visibility.sluice.dev are asked for by the
 * kubeconfig, with the user's own rights. A user who may not see all namespaces, and has named
 * none, gets the kubeconfig's. The answer is narrowed then, and its "namespace" says to which.
 */
#ifndef SLUICE_CLI_PAST_SHOW_H
#define SLUICE_CLI_PAST_SHOW_H

#include "cli/commands.h"
#include "cli/past/options.h"
#include "cli/question.h"
#include "controller/past/past_query.h"

enum { PAST_TREE_MAX = 64 * 1024 * 1024, PAST_OUTPUT_MAX = 8 * 1024 * 1024 };

struct past_answer_question {
	struct past_words words; /* .kind: which resource; .ns NULL: all namespaces */
	const char *home; /* namespace to ask for where not all may be seen; NULL: all or none */
};

/* Gets the answer. The tree lives in json. *ret_narrowed: it is not all that was asked for. Errors
 * as visibility_ask(). */
int past_answer_get(struct ev_loop *loop, struct kube_client *client,
	const struct past_answer_question *q, struct json *json, const cJSON **ret_root,
	bool *ret_narrowed, struct err *e);

struct past_view {
	enum past_kind kind;
	void (*table)(const cJSON *root, const struct style *style, struct buf *out);
	void (*csv)(const cJSON *root, struct buf *out);
	/* Checks the answer. ERR_GONE with a sentence: what was named is not in it. NULL: there is
	 * nothing to check. */
	int (*check)(const cJSON *root, struct err *e);
};

/* Prints the answer to the standard output. Remarks on CSV and JSON go to the standard error, for a
 * program reads the other. narrowed: the answer is of one namespace where all were asked for. */
void past_show(const struct past_view *v, enum output output, const cJSON *root, bool narrowed);

/* A question to the API server, and the view of its answer. */
struct past_command {
	const struct past_view *view;
	struct past_words words;
	bool all_namespaces; /* -A: all or none, for a part would be taken for the sum */
	enum output output;
};

/* Asks and shows, as a question_round_fn; ctx is a past_command. A Job that is named without a
 * namespace is one of `ns`. */
int past_command_ask(struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx);

int past_command_run(const struct past_command_options *o, const struct past_view *view);

#endif
