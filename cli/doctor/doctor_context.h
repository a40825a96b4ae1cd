/*
 * What is examined: an API server and a Postgres, and what one check learns of them for another.
 *
 * Nothing is ever changed. The API server is only read, and asked whether an account may do
 * something. Every statement runs in a read-only transaction, which also works through a pooler.
 */
#ifndef SLUICE_CLI_DOCTOR_DOCTOR_CONTEXT_H
#define SLUICE_CLI_DOCTOR_DOCTOR_CONTEXT_H

#include <libpq-fe.h>
#include <stdbool.h>

#include "base/err.h"
#include "cli/doctor/findings.h"
#include "cli/doctor/options.h"
#include "cli/question.h"

struct ev_loop;
struct reconciliation;

struct doctor_context {
	const struct doctor_options *o;
	struct ev_loop *loop;
	const struct kube_config *config;
	struct kube_client *client;
	struct json *json; /* the newest answer */
	PGconn *pg;	   /* NULL: not connected */

	/* What was learnt, in the order of the checks. */
	bool api_answers;      /* an answer came, if only a refusal */
	bool api_skew_known;   /* the next two count */
	int64_t api_skew_ms;   /* the API server's clock less ours */
	int64_t api_unsure_ms; /* how far off api_skew_ms may be */
	int minor;	       /* of Kubernetes 1.x; 0: unknown */
	bool no_mutating;      /* MutatingAdmissionPolicy is not served as v1 */
	bool lease_known, led; /* led: a controller leads now, if that is known */
	bool has_schema;       /* the ledger's tables are there, of a version that we know */
	struct reconciliation *reconciliation; /* the ledger beside the cluster; NULL: not yet */
};

/* Asks by GET. The tree lives until the next question. Errors as question_ask(). */
int doctor_context_get(
	struct doctor_context *p, const char *path, const cJSON **ret_root, struct err *e);
/* Asks for a list. *ret_items is NULL where there is no such kind. False: there is no answer, and f
 * says why. */
bool doctor_context_list(
	struct doctor_context *p, struct findings *f, const char *path, const cJSON **ret_items);
/* Asks for a text: appends the answer, or a refusal. Earlier trees stay. Errors as
 * question_ask(). */
int doctor_context_text(struct doctor_context *p, const char *path, int64_t timeout_ms,
	struct buf *out, struct err *e);
/* Gives each item of a list to take, as question_each(). */
int doctor_context_each(struct doctor_context *p, const char *path, question_item_fn *take,
	void *ctx, struct err *e);
#define DOCTOR_JOBS "/apis/batch/v1/jobs"
/* True if Jobs of that namespace are none of ours, whatever their labels. ns may be NULL. */
bool doctor_context_exempts(const struct doctor_context *p, const char *ns);
int doctor_context_post(struct doctor_context *p, const char *path, const char *body,
	const cJSON **ret_root, struct err *e);

/* Runs one SELECT with text parameters. ERR_DENIED: no right; ERR_BUSY: the connection is lost;
 * ERR_INVALID with Postgres's own sentence. The result is yours: PQclear. */
int doctor_context_select(struct doctor_context *p, const char *sql, int n,
	const char *const *params, PGresult **ret_result, struct err *e);

#endif
