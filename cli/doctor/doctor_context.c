#include "cli/doctor/doctor_context.h"

#include <string.h>

#include "controller/common/clock.h"

/* Notes the server's clock: it wrote its whole second somewhere between our two looks at ours. */
static void see_clock(
	struct doctor_context *p, int64_t date_ms, int64_t before_ms, int64_t after_ms)
{
	if (date_ms == 0)
		return;
	p->api_skew_known = true;
	p->api_skew_ms = date_ms + 500 - (before_ms + after_ms) / 2;
	p->api_unsure_ms = 500 + (after_ms - before_ms) / 2;
}

static int ask(struct doctor_context *p, const struct kube_request *r, const cJSON **ret_root,
	struct err *e)
{
	struct question_facts facts;
	int64_t before_ms = clock_now_ms();
	int rc = question_send(p->loop, p->client, r, p->json, ret_root, &facts, e);
	if (facts.http_status != 0)
		p->api_answers = true;
	if (!p->api_skew_known)
		see_clock(p, facts.date_ms, before_ms, clock_now_ms());
	return rc;
}

int doctor_context_get(
	struct doctor_context *p, const char *path, const cJSON **ret_root, struct err *e)
{
	return ask(p,
		&(struct kube_request){
			.method = KUBE_GET, .path = path, .answer_ceiling = QUESTION_ANSWER_MAX},
		ret_root, e);
}

bool doctor_context_list(
	struct doctor_context *p, struct findings *f, const char *path, const cJSON **ret_items)
{
	const cJSON *root;
	struct err e = {""};
	int rc = doctor_context_get(p, path, &root, &e);
	*ret_items = rc < 0 ? NULL : json_array(root, "items");
	if (rc == 0 || rc == ERR_GONE)
		return true;
	findings_skip(f, "%s", e.text);
	return false;
}

int doctor_context_text(struct doctor_context *p, const char *path, int64_t timeout_ms,
	struct buf *out, struct err *e)
{
	return question_text(p->loop, p->client,
		&(struct kube_request){.method = KUBE_GET, .path = path, .timeout_ms = timeout_ms},
		out, e);
}

int doctor_context_each(struct doctor_context *p, const char *path, question_item_fn *take,
	void *ctx, struct err *e)
{
	struct question_facts facts;
	int rc = question_each(p->loop, p->client, p->json, path, take, ctx, &facts, e);
	p->api_answers |= facts.http_status != 0;
	return rc;
}

bool doctor_context_exempts(const struct doctor_context *p, const char *ns)
{
	return ns && (strcmp(ns, "kube-system") == 0 || strcmp(ns, p->o->namespace_name) == 0);
}

int doctor_context_post(struct doctor_context *p, const char *path, const char *body,
	const cJSON **ret_root, struct err *e)
{
	return ask(p,
		&(struct kube_request){.method = KUBE_POST,
			.path = path,
			.body = slice_of(body),
			.answer_ceiling = QUESTION_ANSWER_MAX},
		ret_root, e);
}

static int refuse(struct doctor_context *p, const PGresult *r, struct err *e)
{
	const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
	const char *text = r ? PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	if (!text)
		text = PQerrorMessage(p->pg);
	int code = PQstatus(p->pg) != CONNECTION_OK	  ? ERR_BUSY
		   : state && strcmp(state, "42501") == 0 ? ERR_DENIED
							  : ERR_INVALID;
	return err_set(e, code, "%.*s", (int)strcspn(text, "\n"), text);
}

static int run(struct doctor_context *p, const char *sql, struct err *e)
{
	PGresult *r = PQexec(p->pg, sql);
	ExecStatusType status = PQresultStatus(r);
	int rc = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : refuse(p, r, e);
	PQclear(r);
	return rc;
}

int doctor_context_select(struct doctor_context *p, const char *sql, int n,
	const char *const *params, PGresult **ret_result, struct err *e)
{
	struct err ignored;
	int rc = run(p, "BEGIN READ ONLY", e);
	if (rc == 0)
		rc = run(p, "SET LOCAL statement_timeout = '30s'", e);
	PGresult *r = NULL;
	if (rc == 0) {
		r = PQexecParams(p->pg, sql, n, NULL, params, NULL, NULL, 0);
		rc = PQresultStatus(r) == PGRES_TUPLES_OK ? 0 : refuse(p, r, e);
	}
	run(p, "ROLLBACK", &ignored);
	if (rc == 0)
		*ret_result = r;
	else
		PQclear(r);
	return rc;
}
