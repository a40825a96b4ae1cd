#include "controller/answers/report.h"

#include <errno.h>
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/answers/budgets.h"
#include "controller/answers/complaint.h"
#include "controller/answers/job_query.h"
#include "controller/answers/node_report.h"
#include "controller/answers/queues.h"
#include "controller/answers/watch_terms.h"
#include "controller/answers/week.h"
#include "controller/common/clock.h"
#include "controller/ledger/pg.h"
#include "controller/overcommit/overcommit_controller.h"
#include "controller/past/answer.h"
#include "controller/past/past_questions.h"
#include "controller/watch/informer.h"

enum { ANSWER_MAX_BYTES = 64 << 20 };

/* ---- what there is ----------------------------------------------------------------------------- */

enum scope {
	IN_NAMESPACES,	 /* a namespace, or none */
	OF_ALL,		 /* none */
	OF_ALL_AND_EACH, /* none, or one */
	OF_CLUSTERQUEUE, /* a ClusterQueue: the resource is one of its own */
};

/* Puts the members behind kind and apiVersion; none on an error. */
typedef int put_fn(const struct report_sources *s, const struct report_path *p, const char *after,
	struct json_writer *w, struct err *e);
static put_fn put_decisions, put_queues, put_budgets, put_nodes, put_overcommits, put_week;

static const struct row {
	const char *resource; /* in rights, and in paths */
	const char *object;   /* the kind of the answer */
	enum scope scope;
	put_fn *put;	     /* NULL: the ledger answers, or the reader goes over all Jobs */
	enum past_kind past; /* question to the ledger, where put is NULL */
	const char *command; /* command that prints it; NULL: none */
	bool is_of_reader;
} rows[REPORTS] = {
	[REPORT_COSTS] = {"costs", "CostReport", IN_NAMESPACES, NULL, PAST_COST, "cost"},
	[REPORT_REPORTS] = {"reports", "UsageReport", IN_NAMESPACES, NULL, PAST_REPORT, "report"},
	[REPORT_HISTORIES] = {"histories", "JobHistory", IN_NAMESPACES, NULL, PAST_RUNS, "history"},
	[REPORT_DECISIONS] = {"decisions", "DecisionReport", IN_NAMESPACES, put_decisions, 0,
		"decisions"},
	[REPORT_TIMELINES] = {"timelines", "Timeline", IN_NAMESPACES, NULL, 0, NULL,
		.is_of_reader = true},
	[REPORT_SUMMARIES] = {"summaries", "SummaryReport", IN_NAMESPACES, NULL, 0, "jobs --group",
		.is_of_reader = true},
	[REPORT_QUEUES] = {"queuereports", "QueueReport", IN_NAMESPACES, put_queues, 0, "queue",
		.is_of_reader = true},
	[REPORT_BUDGETS] = {"budgetreports", "BudgetReport", OF_ALL, put_budgets, 0, NULL},
	[REPORT_NODES] = {"nodereports", "NodeReport", OF_ALL, put_nodes, 0, NULL,
		.is_of_reader = true},
	[REPORT_OVERCOMMITS] = {"overcommits", "OvercommitReport", OF_ALL_AND_EACH, put_overcommits,
		0, NULL},
	[REPORT_WEEK] = {"clusterqueues/week", "ClusterQueueWeek", OF_CLUSTERQUEUE, put_week, 0,
		NULL},
	[REPORT_USAGE] = {"clusterqueues/usage", "ClusterQueueUsage", OF_CLUSTERQUEUE, NULL,
		PAST_USAGE, NULL},
};

/* ---- paths and rights -------------------------------------------------------------------------- */

/* Takes the name that is the rest of a path, behind a slash. "": there is none. */
static bool take_name(const char *at, const char *allowed, char *ret, size_t size)
{
	size_t len = strlen(at);
	ret[0] = '\0';
	if (len == 0)
		return true;
	if (at[0] != '/' || len < 2 || len > size || strspn(at + 1, allowed) < len - 1)
		return false;
	memcpy(ret, at + 1, len);
	return true;
}

#define LABEL "abcdefghijklmnopqrstuvwxyz0123456789-"

static bool is_of_clusterqueue(const struct row *r, const char *at, struct report_path *ret)
{
	static const char above[] = "clusterqueues";
	const char *end = strrchr(at, '/');
	char name[sizeof(ret->name) + 1];
	size_t len = end && strncmp(at, above, strlen(above)) == 0 && end > at + strlen(above)
			     ? (size_t)(end - at) - strlen(above)
			     : 0;
	if (len == 0 || len >= sizeof(name) || strcmp(end, strchr(r->resource, '/')) != 0)
		return false;
	memcpy(name, at + strlen(above), len);
	name[len] = '\0';
	return take_name(name, LABEL ".", ret->name, sizeof(ret->name));
}

/* True if it is a path of that report. at: behind the root, and behind the namespace where ret has
 * one. */
static bool is_path_of(const struct row *r, const char *at, struct report_path *ret)
{
	size_t len = strlen(r->resource);
	if (r->scope == OF_CLUSTERQUEUE)
		return !*ret->ns && is_of_clusterqueue(r, at, ret);
	if (strncmp(at, r->resource, len) != 0 || (*ret->ns && r->scope != IN_NAMESPACES))
		return false;
	return take_name(at + len, LABEL ".", ret->name, sizeof(ret->name)) &&
	       (!*ret->name || r->scope == OF_ALL_AND_EACH);
}

/* Takes the namespace, if the path has one; *at goes behind it. */
static bool take_namespace(const char **at, char *ret, size_t size)
{
	static const char word[] = "namespaces/";
	if (strncmp(*at, word, strlen(word)) != 0)
		return true;
	const char *ns = *at + strlen(word);
	size_t len = strspn(ns, LABEL);
	if (len == 0 || len >= size || ns[len] != '/')
		return false;
	memcpy(ret, ns, len);
	*at = ns + len + 1;
	return true;
}

bool report_path(const char *path, struct report_path *ret)
{
	static const char root[] = VISIBILITY_ROOT "/";
	const char *at = path + strlen(root);
	*ret = (struct report_path){0};
	if (strncmp(path, root, strlen(root)) != 0 ||
		!take_namespace(&at, ret->ns, sizeof(ret->ns)))
		return false;
	for (int i = 0; i < REPORTS; i++) {
		if (!is_path_of(&rows[i], at, ret))
			continue;
		ret->report = (enum report)i;
		return true;
	}
	return false;
}

struct right report_right(const struct report_path *p)
{
	struct right r = {
		*p->name ? "get" : "list", VISIBILITY_GROUP, rows[p->report].resource, ""};
	strcpy(r.ns, p->ns);
	return r;
}

/* ---- of this moment ---------------------------------------------------------------------------- */

static int put_decisions(const struct report_sources *s, const struct report_path *p,
	const char *after, struct json_writer *w, struct err *e)
{
	uint64_t seq = 0;
	if (after) {
		char *end;
		errno = 0;
		seq = strtoull(after, &end, 10);
		if (after[0] < '0' || after[0] > '9' || *end || errno)
			return err_set(e, ERR_INVALID,
				"after must be the number of a decision, such as 512");
	}
	decision_log_put(s->decision_log, seq, *p->ns ? p->ns : NULL, w);
	return 0;
}

static int put_queues(const struct report_sources *s, const struct report_path *p,
	const char *after, struct json_writer *w, struct err *e)
{
	(void)after, (void)e;
	queues_put(s, p->ns, w);
	return 0;
}

static int put_budgets(const struct report_sources *s, const struct report_path *p,
	const char *after, struct json_writer *w, struct err *e)
{
	(void)p, (void)after, (void)e;
	budgets_put(s->queue, s->now_ms, w);
	return 0;
}

static int put_nodes(const struct report_sources *s, const struct report_path *p, const char *after,
	struct json_writer *w, struct err *e)
{
	(void)p, (void)after, (void)e;
	node_report_put(s, w);
	return 0;
}

static int put_overcommits(const struct report_sources *s, const struct report_path *p,
	const char *after, struct json_writer *w, struct err *e)
{
	(void)after;
	if (s->overcommit_controller &&
		overcommit_controller_show(s->overcommit_controller, p->name, w))
		return 0;
	return err_set(e, ERR_GONE,
		"no Node %.253s is followed; Nodes are while a NodeOvercommit or the ConfigMap enables lending",
		p->name);
}

static int put_week(const struct report_sources *s, const struct report_path *p, const char *after,
	struct json_writer *w, struct err *e)
{
	(void)after;
	return week_put(s->queue, p->name, s->now_ms, w, e);
}

static struct json_writer begin(const char *object, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	jw_texts(&w, "kind", object, "apiVersion", VISIBILITY_GROUP "/" VISIBILITY_VERSION, NULL);
	return w;
}

static void end(struct json_writer *w)
{
	jw_close(w);
	buf_putc(w->out, '\n');
}

int report_put(const struct report_sources *s, const struct report_path *p, const char *after,
	struct buf *out, struct err *e)
{
	struct json_writer w = begin(rows[p->report].object, out);
	int rc = rows[p->report].put(s, p, after, &w, e);
	if (rc == 0)
		end(&w);
	else
		buf_reset(out);
	return rc;
}

static void answer(struct http_question *q, struct buf *body)
{
	if (body->failed)
		complain(q, 413, "this report is larger than 64 MiB");
	else if (!complain_of_unsent(q, body->len, "ask again in a moment"))
		http_answer(q, (struct http_reply){200, "application/json"}, body);
	buf_done(body);
}

struct report_sources report_sources_of(const struct answer_sources *from)
{
	return (struct report_sources){.queue = from->queue,
		.gate = from->gate,
		.counters = from->counters,
		.decision_log = from->decision_log,
		.overcommit_controller = from->overcommit_controller,
		.fair_sharing = from->fair_sharing,
		.ledger_up = pg_up(from->pg),
		.pods_denied = informer_pods_denied(from->informer),
		.now_ms = clock_of_loop_ms(ev_now(from->loop))};
}

static void take_now(
	const struct answer_sources *from, struct http_question *q, const struct report_path *p)
{
	const struct report_sources s = report_sources_of(from);
	struct buf whole;
	struct err e = {""};
	buf_init(&whole, ANSWER_MAX_BYTES);
	int rc = report_put(&s, p, http_param(q, "after"), &whole, &e);
	if (rc == 0) {
		answer(q, &whole);
		return;
	}
	complain(q, rc == ERR_GONE ? 404 : 400, e.text);
	buf_done(&whole);
}

/* ---- of the ledger ----------------------------------------------------------------------------- */

/* Beside the number of a report: its answer is folded, and of another kind. */
#define FOLDED (1 << 8)

static void on_past(int what, const struct buf *body, const char *sentence, void *ctx)
{
	struct http_question *q = ctx;
	struct buf whole;
	if (!body) {
		complain(q, 503, sentence);
		return;
	}
	buf_init(&whole, ANSWER_MAX_BYTES);
	struct json_writer w =
		begin(what & FOLDED ? run_spans_view.name : rows[what].object, &whole);
	jw_members(&w, (struct slice){body->ptr, body->len - 1}); /* a newline follows */
	end(&w);
	answer(q, &whole);
}

/* Takes the parameter fold, which only histories have. */
static int take_fold(
	struct http_question *q, const struct report_path *p, bool *ret_fold, struct err *e)
{
	const char *fold = http_param(q, "fold");
	*ret_fold = fold && strcmp(fold, "true") == 0;
	if (fold && p->report != REPORT_HISTORIES)
		return err_set(e, ERR_INVALID, "fold is a parameter of histories only");
	if (fold && !*ret_fold && strcmp(fold, "false") != 0)
		return err_set(e, ERR_INVALID, "fold is \"%.40s\"; it must be true or false", fold);
	return 0;
}

static void take_past(
	const struct answer_sources *from, struct http_question *q, const struct report_path *p)
{
	const char *clusterqueue =
		p->report == REPORT_HISTORIES ? http_param(q, "clusterQueue") : NULL;
	struct err e = {""};
	bool fold = false;
	int rc = take_fold(q, p, &fold, &e);
	struct past_words words = {.kind = fold ? PAST_SPANS : rows[p->report].past,
		.by = http_param(q, "by"),
		.since = http_param(q, "since"),
		.until = http_param(q, "until"),
		.job = http_param(q, "job"),
		.submitter = http_param(q, "user"),
		.clusterqueue = *p->name ? p->name : clusterqueue,
		.ns = *p->ns ? p->ns : NULL};
	struct past_asker who = {on_past, q, (int)p->report | (fold ? FOLDED : 0), http_of(q)};
	if (!rc)
		rc = past_questions_ask(from->past_questions, &words,
			clock_of_loop_ms(ev_now(from->loop)), &who, &e);
	if (rc)
		complain(q, rc == ERR_LIMIT ? 429 : 400, e.text);
}

/* ---- all of them ------------------------------------------------------------------------------- */

bool report_wants_table(const char *accept)
{
	struct job_query q = {0};
	return job_query_take(&q, &(struct job_query_words){.accept = accept}, NULL) == 0 &&
	       q.form != FORM_OBJECTS;
}

static void complain_of_table(struct http_question *q, const struct row *r)
{
	char sentence[200], prints[40] = "";
	if (r->command)
		snprintf(prints, sizeof(prints), "sluice %s prints it, or ", r->command);
	snprintf(sentence, sizeof(sentence),
		"%s is one report, and no list that makes a table: %swrite kubectl get %s -o yaml",
		r->resource, prints, r->resource);
	complain(q, 406, sentence);
}

bool report_take(
	const struct answer_sources *from, struct http_question *q, const struct report_path *p)
{
	const struct row *r = &rows[p->report];
	struct watch_words watch = {.watch = http_param(q, "watch")};
	char sentence[100];
	if (watch_wanted(&watch)) {
		snprintf(sentence, sizeof(sentence), "%s cannot be watched: ask for them again",
			r->resource);
		complain(q, 400, sentence);
	} else if (report_wants_table(http_header(q, "Accept"))) {
		complain_of_table(q, r);
	} else if (r->is_of_reader && (p->report != REPORT_QUEUES || *p->ns)) {
		return false;
	} else if (r->put) {
		take_now(from, q, p);
	} else {
		take_past(from, q, p);
	}
	return true;
}
