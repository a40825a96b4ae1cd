/*
 * Reports: answers that are one object, and no list of objects. A row each, below
 * /apis/visibility.sluice.dev/v1alpha1/:
 *
 *   [namespaces/NS/]costs[?by=...&since=...&until=...]: what runs cost.
 *   [namespaces/NS/]reports[?by=...&since=...&until=...]: what Jobs did.
 *   [namespaces/NS/]histories[?job=...&user=...&since=...&until=...]: each run;
 *     ?fold=true[&clusterQueue=...&since=...&until=...]: alike runs folded.
 *   [namespaces/NS/]decisions[?after=N]: the last decisions (decision_log.h).
 *   [namespaces/NS/]timelines[?until=...&clusterQueue=...]: what is and what is expected, by the
 *     reader (timeline.h).
 *   [namespaces/NS/]summaries[?by=...]: Jobs summed up (summary.h).
 *   [namespaces/NS/]queuereports: queues; of a namespace by the reader (queues.h).
 *   budgetreports: what Budgets have left (budgets.h).
 *   nodereports: Nodes, and what their pods ask for, by the reader (node_report.h).
 *   overcommits[/NODE]: what is lent of Nodes.
 *   clusterqueues/NAME/week: windows, prices and quota (week.h).
 *   clusterqueues/NAME/usage[?since=...&until=...]: what the ClusterQueue held.
 *
 * The right is `list` of the resource, in all namespaces or in that one; `get` where the path names
 * an object. A report about a namespace names no Job of another. It has no Table: kubectl get wants
 * one, would print <unknown>, and is told what to do instead. It cannot be watched.
 *
 * Left to others: questions to the ledger (past/past_questions.h), what the reader answers and who
 * leads (answers.c).
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_REPORT_H
#define SLUICE_CONTROLLER_ANSWERS_REPORT_H

#include <stdbool.h>

#include "controller/answers/counters.h"
#include "controller/answers/decision_log.h"
#include "controller/net/http.h"
#include "controller/answers/sources.h"

enum report {
	REPORT_COSTS,
	REPORT_REPORTS,
	REPORT_HISTORIES,
	REPORT_DECISIONS,
	REPORT_TIMELINES,
	REPORT_SUMMARIES,
	REPORT_QUEUES,
	REPORT_BUDGETS,
	REPORT_NODES,
	REPORT_OVERCOMMITS,
	REPORT_WEEK,
	REPORT_USAGE,
	REPORTS,
};

/* A path of a report, taken apart. */
struct report_path {
	enum report report;
	char ns[64];	/* namespace in the path; "": all */
	char name[254]; /* name of the object in the path; "": none */
};

bool report_path(const char *path, struct report_path *ret);

/* Returns the right for which the API server asks its authorizer before such a question is passed
 * on. */
struct right report_right(const struct report_path *p);

/* True if this header Accept asks for a Table before all else, as that of kubectl get does. */
bool report_wants_table(const char *accept);

/* Takes a question about a report. Calls http_answer() for q, once, now or later from the loop;
 * never after past_questions_forget() of its port (http_of()). False: the reader has the answer
 * (reader.h), and q is still to be answered. */
bool report_take(
	const struct answer_sources *from, struct http_question *q, const struct report_path *p);

/* ---- without a port and a ledger, for tests ---------------------------------------------------- */

/* The sources of reports of this moment. Borrowed. */
struct report_sources {
	const struct queue *queue;
	const struct gate *gate;
	const struct counters *counters;
	const struct decision_log *decision_log;
	const struct overcommit_controller *overcommit_controller; /* NULL: no Node is followed */
	bool fair_sharing, ledger_up;
	bool pods_denied; /* the controller may not read pods */
	int64_t now_ms;
};

struct report_sources report_sources_of(const struct answer_sources *from);

/* Puts the object into out, which is empty. after: the parameter; NULL: not given. ERR_INVALID,
 * ERR_GONE: a sentence, and out stays empty. */
int report_put(const struct report_sources *s, const struct report_path *p, const char *after,
	struct buf *out, struct err *e);

#endif
