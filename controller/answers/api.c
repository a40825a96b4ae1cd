#include "controller/answers/api.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "controller/common/stamp.h"
#include "controller/answers/budgets.h"
#include "controller/answers/members.h"
#include "controller/answers/queues.h"
#include "controller/answers/week.h"
#include "controller/write/trouble_rows.h"
#include "sluice/keys.h"

#define TEXT "text/plain; charset=utf-8"
#define JSON "application/json"
#define INDEX_PATH "/api" /* "/" is the page */
#define API_PREFIX "/api/v1/"
#define JOBS_PREFIX "/api/v1/jobs/"
#define QUEUES_PATH "/api/v1/queues"
#define WEEK_PATH "/api/v1/week"
#define BUDGETS_PATH "/api/v1/budgets"
#define DECISIONS_PATH "/api/v1/decisions"
#define COST_PATH "/api/v1/cost"
#define OVERCOMMIT_PATH "/api/v1/overcommit"

bool api_is_probe(const char *path)
{
	return strcmp(path, "/healthz") == 0 || strcmp(path, "/readyz") == 0;
}

struct http_reply api_complain(struct buf *out, unsigned status, const char *sentence)
{
	buf_puts(out, "{\"error\":");
	buf_json_string(out, sentence);
	buf_puts(out, "}\n");
	return (struct http_reply){status, JSON};
}

/* ---- who may ask ----------------------------------------------------------------------------- */

enum { NAMESPACE_MAX = 63, NAME_MAX = 255 };

/* NAMESPACE/NAME */
struct job_path {
	char ns[NAMESPACE_MAX + 1], name[NAME_MAX + 1];
};

/* Only what can be a namespace: "" would mean all of them. */
static bool is_namespace(const char *text, size_t len)
{
	return len > 0 && len <= NAMESPACE_MAX &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") >= len;
}

static bool parse_job_path(const char *path, struct job_path *ret)
{
	if (strncmp(path, JOBS_PREFIX, strlen(JOBS_PREFIX)) != 0)
		return false;
	const char *rest = path + strlen(JOBS_PREFIX), *slash = strchr(rest, '/');
	size_t len = slash ? (size_t)(slash - rest) : 0;
	if (!slash || !is_namespace(rest, len) || slash[1] == '\0' || strchr(slash + 1, '/') ||
		strlen(slash + 1) > NAME_MAX)
		return false;
	*ret = (struct job_path){0};
	memcpy(ret->ns, rest, len);
	strcpy(ret->name, slash + 1);
	return true;
}

static struct right right_to_jobs(const char *verb, const char *ns)
{
	struct right r = {verb, "batch", "jobs", ""};
	if (ns && is_namespace(ns, strlen(ns)))
		strcpy(r.ns, ns);
	return r;
}

/* Owners and labels are those of Jobs, and users are people. */
static bool names_jobs(const struct api_request *r)
{
	return strcmp(r->path, COST_PATH) == 0 && r->by &&
	       (strcmp(r->by, "owner") == 0 || strcmp(r->by, "user") == 0 ||
		       strncmp(r->by, "label=", 6) == 0);
}

struct http_rights api_rights(const struct api_request *r)
{
	struct job_path job;
	struct http_rights x = {.must = {"get", "sluice.dev", "clusterqueues", ""}};
	x.open = api_is_probe(r->path);
	if (parse_job_path(r->path, &job))
		x.must = right_to_jobs("get", job.ns);
	else if (strcmp(r->path, DECISIONS_PATH) == 0)
		x.must = right_to_jobs("list", r->ns);
	else if (names_jobs(r))
		x.must = right_to_jobs("list", NULL);
	x.has_names = strcmp(r->path, QUEUES_PATH) == 0;
	x.names = right_to_jobs("list", NULL);
	return x;
}

void api_refusal(const struct right *r, struct buf *out)
{
	buf_puts(out, "this user may not ");
	right_describe(r, out);
	if (strcmp(r->verb, "impersonate") == 0) {
		buf_puts(out,
			": leave out the headers X-Remote-User and X-Remote-Group, or bind the ClusterRole sluice-page-proxy to the proxy that sends them");
		return;
	}
	/* Never advise more than was missing: what is of one namespace is given there. */
	if (r->ns[0])
		buf_puts(out,
			"; bind the ClusterRole sluice-batch-user in that namespace (by a RoleBinding)");
	else if (strcmp(r->resource, "jobs") == 0)
		buf_puts(out,
			" in all namespaces; bind the ClusterRole view by a ClusterRoleBinding, or ask for one namespace alone: sluice decisions -n NAMESPACE");
	else if (strcmp(r->resource, "whatifs") == 0)
		buf_puts(out,
			"; bind a ClusterRole with that right by a ClusterRoleBinding: kubectl create clusterrole sluice-whatifs --verb=list --resource=whatifs.visibility.sluice.dev");
	else
		buf_puts(out, "; bind the ClusterRole sluice-viewer by a ClusterRoleBinding");
}

/* ---- health ---------------------------------------------------------------------------------- */

/* 0: Jobs are followed, or have been of late. */
static int64_t jobs_stalled_ms(const struct metrics_sources *m)
{
	for (size_t i = 0; i < m->nkinds; i++)
		if (strcmp(m->kinds[i].name, "jobs") == 0 &&
			m->kinds[i].stalled_ms >= KIND_STALLED_MS)
			return m->kinds[i].stalled_ms;
	return 0;
}

static void put_stalled(const struct metrics_sources *m, struct buf *out)
{
	for (size_t i = 0; i < m->nkinds; i++)
		if (m->kinds[i].stalled_ms >= KIND_STALE_MS)
			buf_printf(out,
				"- has not been able to follow %s for %s: what it knows of them is as old (watch-trouble in the log says why)\n",
				m->kinds[i].name, span_short(m->kinds[i].stalled_ms).s);
}

static void put_mass_stop(const struct gate *g, struct buf *out)
{
	struct gate_mass_stop m;
	if (gate_mass_stop(g, &m))
		buf_printf(out,
			"- mass stop: %zu of %zu running Jobs have no reservation in the ledger; they are stopped in %s, and nothing starts until then (--mass-stop-after)\n",
			m.jobs, m.running, span_short(m.left_ms).s);
}

static void put_settling(const struct gate *g, struct buf *out)
{
	int64_t left_ms;
	if (gate_settling(g, &left_ms))
		buf_printf(out,
			"- the ledger failed over or was restored: nothing starts for another %s (--settle-after-failover)\n",
			span_short(left_ms).s);
}

static struct http_reply ready(const struct api_sources *s, struct buf *out)
{
	put_stalled(&s->metrics, out);
	put_settling(s->metrics.gate, out);
	put_mass_stop(s->metrics.gate, out);
	if (*s->denied)
		buf_printf(out,
			"- does without what its role does not let it read: %s (kubectl apply -k deploy/rbac)\n",
			s->denied);
	return (struct http_reply){200, TEXT};
}

/* Ready is who can serve, or take over at once. A body that begins with "leading" is the leader's.
 */
static struct http_reply answer_ready(const struct api_sources *s, struct buf *out)
{
	const struct metrics_sources *m = &s->metrics;
	const char *holder = s->leadership.lease.holder;
	bool warm = m->synced && m->ledger_up && !s->stopping && jobs_stalled_ms(m) == 0;
	if (warm && gate_leading(m->gate)) {
		buf_printf(out, "leading: epoch %" PRId64 ", cell %s, as %s\n", gate_epoch(m->gate),
			s->cell, s->identity);
		return ready(s, out);
	}
	if (warm) {
		buf_puts(out, "standby: everything is read and the ledger is connected; ");
		if (holder[0])
			buf_printf(out, "the lease of cell %s is held by %s\n", s->cell, holder);
		else
			buf_printf(
				out, "who holds the lease of cell %s is not known yet\n", s->cell);
		return ready(s, out);
	}
	buf_puts(out, "not ready\n");
	if (s->stopping)
		buf_puts(out, "- it was told to stop\n");
	if (!m->synced)
		buf_printf(out, "- not all lists have been read from the API server; missing: %s\n",
			s->waiting_for);
	if (!m->ledger_up)
		buf_printf(out,
			"- the ledger is not connected: running Jobs go on, nothing new starts (%s)\n",
			s->ledger_trouble[0] ? s->ledger_trouble : "connecting");
	if (m->synced)
		put_stalled(m, out);
	return (struct http_reply){503, TEXT};
}

/* ---- one that does not lead ------------------------------------------------------------------ */

/* False: it leads, or the path is about the process itself. */
static bool stands_by(
	const struct api_sources *s, const char *path, struct buf *out, struct http_reply *ret)
{
	char cure[512], sentence[LEADERSHIP_TEXT_SIZE];
	snprintf(cure, sizeof(cure),
		"ask that one (kubectl -n %.63s port-forward pod/%.200s %u), or the API server, which finds it: kubectl get queuedjobs",
		s->namespace_name, s->leadership.lease.holder, (unsigned)s->port);
	if (strncmp(path, API_PREFIX, strlen(API_PREFIX)) != 0 ||
		!leadership_why_not(&s->leadership, cure, sentence))
		return false;
	*ret = api_complain(out, 503, sentence);
	return true;
}

/* ---- one Job --------------------------------------------------------------------------------- */

static void put_bill(struct buf *out, const struct run_bill *b)
{
	buf_puts(out, ",\"bill\":{\"currency\":");
	buf_json_string(out, b->currency);
	put_member(out, "plan", b->plan);
	put_member_money(out, "cost", b->cost);
	put_member_money(out, "perHour", b->per_hour);
	if (b->expected_cost >= 0)
		put_member_money(out, "expectedCost", b->expected_cost);
	buf_putc(out, '}');
}

/* What keeps its pods. */
static void put_trouble(struct buf *out, const struct gate_trouble *x)
{
	buf_puts(out, ",\"trouble\":{\"reason\":");
	buf_json_string(out, trouble_name(x->word));
	buf_printf(out, ",\"pods\":%" PRId32 ",\"of\":%" PRId32, x->pods, x->of);
	put_member_time(out, "since", x->since_ms);
	put_member(out, "message", x->message);
	put_member(out, "cure", trouble_cure(x->word, x->message));
	buf_putc(out, '}');
}

/* What is known of its duration and its end; keys of what is not are left out. */
static void put_terms(struct buf *out, const struct explanation *x)
{
	static const char *const sources[] = {[DURATION_UNKNOWN] = "",
		[DURATION_ANNOTATION] = "Annotation",
		[DURATION_DEADLINE] = "ActiveDeadlineSeconds",
		[DURATION_HISTORY] = "History"};
	if (x->expected_ms > 0) {
		buf_printf(out, ",\"expectedMs\":%" PRId64, x->expected_ms);
		put_member(out, "expectedFrom", sources[x->expected_from]);
	}
	if (x->deadline_ms > 0) {
		put_member_time(out, "deadline", x->deadline_ms);
		put_member_bool(out, "deadlineUnreachable", x->unreachable);
	}
	if (x->stop_ms > 0 && x->stop_ms < INT64_MAX)
		put_member_time(out, "stopsAt", x->stop_ms);
}

static void put_explanation(struct buf *out, const char *ns, const char *name,
	const struct explanation *x, const struct api_sources *s)
{
	char at[STAMP_TEXT_SIZE];
	struct run_bill bill;
	buf_puts(out, "{\"namespace\":");
	buf_json_string(out, ns);
	put_member(out, "name", name);
	put_member(out, "reason", wait_reason_name(x->reason));
	put_member(out, "state", gate_state(s->metrics.gate, ns, name));
	put_member_bool(out, "waiting", x->reason != WAIT_NOT);
	put_member_bool(out, "inLine", x->in_line);
	put_member(out, "sentence", x->sentence);
	put_member(out, "localQueue", x->localqueue);
	put_member(out, "clusterQueue", x->clusterqueue);
	buf_printf(out, ",\"priority\":%" PRId32 ",\"claimedPriority\":%" PRId32 ",\"ahead\":%zu",
		x->priority, x->claimed_priority, x->ahead);
	put_member(out, "queuedAt", x->queued_ms > 0 ? stamp_format_seconds(x->queued_ms, at) : "");
	bool later = x->not_before_ms > s->now_ms && x->not_before_ms < INT64_MAX;
	put_member(out, "notBefore", later ? stamp_format_seconds(x->not_before_ms, at) : "");
	put_terms(out, x);
	struct gate_trouble trouble;
	if (gate_job_trouble(s->metrics.gate, ns, name, &trouble))
		put_trouble(out, &trouble);
	if (gate_bill(s->metrics.gate, ns, name, s->now_ms, &bill) && bill.priced)
		put_bill(out, &bill);
	put_member_bool(out, "leading", gate_leading(s->metrics.gate));
	put_member_bool(out, "ledgerUp", s->metrics.ledger_up);
	const char *story = gate_story(s->metrics.gate, ns, name);
	if (story)
		put_member(out, "story", story);
	buf_puts(out, "}\n");
}

static struct http_reply answer_job(const struct api_sources *s, const char *path, struct buf *out)
{
	struct job_path job;
	char sentence[700];
	if (!parse_job_path(path, &job))
		return api_complain(out, 404, "the path must be " JOBS_PREFIX "NAMESPACE/NAME");
	const char *ns = job.ns, *name = job.name;
	struct explanation x = {0};
	if (!gate_explain(s->metrics.gate, ns, name, s->now_ms, &x)) {
		snprintf(sentence, sizeof(sentence),
			"no Job %s/%s with the label " QUEUE_LABEL " waits or runs%s", ns, name,
			s->metrics.synced
				? "; one that has finished is forgotten"
				: ", as far as is known: the first list is still being read");
		return api_complain(out, s->metrics.synced ? 404 : 503, sentence);
	}
	put_explanation(out, ns, name, &x, s);
	return (struct http_reply){200, JSON};
}

/* ---- idle resources -------------------------------------------------------------------------- */

static struct http_reply answer_overcommit(
	const struct api_sources *s, const char *rest, struct buf *out)
{
	const struct overcommit_controller *l = s->metrics.overcommit_controller;
	char sentence[700];
	if (l && overcommit_controller_show(l, *rest ? rest + 1 : "", out))
		return (struct http_reply){200, JSON};
	snprintf(sentence, sizeof(sentence),
		"no Node %.250s is followed; Nodes are while a NodeOvercommit or the ConfigMap enables lending",
		*rest ? rest + 1 : "");
	return api_complain(out, 404, sentence);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct http_reply answer_decisions(
	const struct api_sources *s, const struct api_request *r, struct buf *out)
{
	uint64_t seq = 0;
	if (r->after) {
		char *end;
		errno = 0;
		seq = strtoull(r->after, &end, 10);
		if (r->after[0] < '0' || r->after[0] > '9' || *end || errno)
			return api_complain(
				out, 400, "after must be the number of a decision, such as 512");
	}
	if (r->ns && !is_namespace(r->ns, strlen(r->ns)))
		return api_complain(out, 400, "namespace must be the name of one, such as team-a");
	decision_log_render(s->decision_log, seq, r->ns, out);
	return (struct http_reply){200, JSON};
}

static struct http_reply answer_index(const struct api_sources *s, struct buf *out)
{
	buf_printf(out,
		"sluice-controller %s, cell %s, as %s\n\n"
		"/healthz\n/readyz\n/metrics\n/api/v1/queues\n/api/v1/jobs/NAMESPACE/NAME\n"
		"/api/v1/week?clusterQueue=NAME\n/api/v1/budgets\n"
		"/api/v1/decisions?after=0&namespace=NAMESPACE\n"
		"/api/v1/cost?by=queue&since=30d\n"
		"/api/v1/usage?clusterQueue=NAME&since=24h\n"
		"/api/v1/overcommit\n/api/v1/overcommit/NODE\n",
		SLUICE_VERSION, s->cell, s->identity);
	return (struct http_reply){200, TEXT};
}

struct http_reply api_answer(
	const struct api_sources *s, const struct api_request *r, struct buf *out)
{
	const char *path = r->path;
	struct http_reply standby;
	if (stands_by(s, path, out, &standby))
		return standby;
	if (strcmp(path, "/healthz") == 0) {
		buf_puts(out, "ok\n");
		return (struct http_reply){200, TEXT};
	}
	if (strcmp(path, "/readyz") == 0)
		return answer_ready(s, out);
	if (strcmp(path, "/metrics") == 0) {
		metrics_render(&s->metrics, out);
		return (struct http_reply){200, METRICS_CONTENT_TYPE};
	}
	if (strcmp(path, QUEUES_PATH) == 0)
		return queues_answer(s, r->names, out);
	if (strcmp(path, WEEK_PATH) == 0)
		return week_answer(s, r, out);
	if (strcmp(path, BUDGETS_PATH) == 0)
		return budgets_answer(s, out);
	if (strcmp(path, DECISIONS_PATH) == 0)
		return answer_decisions(s, r, out);
	if (strcmp(path, OVERCOMMIT_PATH) == 0 ||
		strncmp(path, OVERCOMMIT_PATH "/", strlen(OVERCOMMIT_PATH) + 1) == 0)
		return answer_overcommit(s, path + strlen(OVERCOMMIT_PATH), out);
	if (strncmp(path, JOBS_PREFIX, strlen(JOBS_PREFIX)) == 0)
		return answer_job(s, path, out);
	if (strcmp(path, INDEX_PATH) == 0)
		return answer_index(s, out);
	return api_complain(
		out, 404, "there is nothing at this path; " INDEX_PATH " lists what there is");
}
