/* What is seen of Jobs, and the life of their records. */
#ifndef SLUICE_CONTROLLER_GATE_OBSERVE_H
#define SLUICE_CONTROLLER_GATE_OBSERVE_H

#include <stdbool.h>

struct gate;
struct gate_job;
struct job;
struct uid;

struct gate_job *gate_add_job(
	struct gate *g, const struct uid *uid, const char *ns, const char *name);
void gate_forget_job(struct gate *g, struct gate_job *j); /* frees j */
void gate_free_job(struct gate *g, struct gate_job *j);	  /* when all go */
/* Reads Jobs again that were too many, as far as there is a place for them now
 * (queue/core/model/overflow.h); and the other way round: of one that waits, true when it was deferred,
 * and is no more. */
void gate_fetch_deferred(struct gate *g);
bool gate_defer_job(struct gate *g, struct gate_job *j);
/* One that is being fetched, and nothing can be read of it: later, so that others have a turn. */
void gate_return_deferred(struct gate *g, struct gate_job *j); /* frees j */
/* What an answer to a request of ours had of it. */
void gate_see_answer(struct gate *g, struct gate_job *j, const struct job *seen);

#endif
