/*
 * Failing: the API server answers requests about one Job with an error of its own (500, 504, a webhook that
 * cannot be reached), or not at all, again and again.
 *
 * Such an answer is no verdict on the Job: it counts towards no hold, and goes away by itself once the
 * server is well. But it may last, and of one Job alone. So it is told from the first answer on, in the
 * server's words, and no start keeps its quota for it: the first try that fails FAILING_PATIENCE_MS after
 * the first failure, or later, calls it off (phase.c fences it if it may still land), and the Job is tried
 * again after a pause. No pause between two tries is much longer than that, whatever the server asks for.
 *
 * The pause doubles only while the server takes writes of other Jobs. Where it takes none, it fails for all,
 * and a long pause would keep them all waiting once it is well again. A connection that cannot be made is no
 * failure of a Job at all: its start keeps its quota and its turn.
 *
 * A start that may still land is fenced by a PATCH of the Job, which may fail for the same reason. So the
 * second try of each two goes by the subresource status, which most webhooks do not look at; the story that
 * it writes guards as well there.
 *
 * Left to others: answers that are a no (requests.c).
 */
#ifndef SLUICE_CONTROLLER_GATE_FAILING_H
#define SLUICE_CONTROLLER_GATE_FAILING_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/gate/gate.h"
#include "controller/gate/phase.h"

struct explanation;
struct gate_job;

#define FAILING_PATIENCE_MS INT64_C(30000)

/* Failures of requests about one Job whose kinds have not succeeded since. A start that failed is
 * kept in mind until the Job runs, whatever fails meanwhile. */
struct failing {
	enum intent_kind asked; /* the kind that is told: what failed last, or the start */
	uint32_t told;		/* the kinds whose failure was noted: a bit each */
	bool refused;		/* the last answer was a no */
	char *said;		/* the server's last words, or ours; NULL: none yet */
	int64_t generation;	/* of the Job, when that was said */
	int64_t since_ms;	/* first failure of that kind, by the wall; 0: it succeeded since */
	int64_t began_ms;	/* first failure in this phase, by tick_ms; 0: none */
	unsigned starts;	/* given up in a row while other writes landed */
	bool by_status;		/* the next fence goes by the subresource status */
};

/* Takes an answer to a request about the Job. Notes the server's words where they are news. */
void failing_answered(
	struct gate *g, struct gate_job *j, enum intent_kind asked, const struct job_answer *a);
/* Forgets what does not matter in the phase that comes next. */
void failing_enter(struct gate_job *j, enum phase next);
bool failing_ends_start(const struct gate *g, const struct gate_job *j);
/* Counts a start that was given up, if another write has landed since it began to fail. Returns how many
 * were counted before it in a row. */
unsigned failing_count_start(const struct gate *g, struct gate_job *j);
/* Tells whether the next fence goes by the subresource status. */
bool failing_by_status(const struct gate_job *j);
/* Limits the pause until the next try. */
int64_t failing_pause_max_ms(const struct gate *g, const struct gate_job *j, int64_t usual_ms);
void failing_over(struct gate_job *j);
/* Adds what fails, and the server's words, to the sentence. */
void explain_failing(const struct gate *g, const struct gate_job *j, struct explanation *x);

#endif
