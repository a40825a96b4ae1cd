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
void gate_free_job(struct gate *g, struct gate_job *j);	  /* for the end of the gate */
/* Reads deferred Jobs again, as far as there is a place for them now
 * (queue/core/model/overflow.h). */
void gate_fetch_deferred(struct gate *g);
/* Defers a Job that waits, if too many do. True: it was deferred, and j is freed. */
bool gate_defer_job(struct gate *g, struct gate_job *j);
/* Defers a Job again that is being fetched and cannot be read, so that others have a turn. */
void gate_return_deferred(struct gate *g, struct gate_job *j); /* frees j */
/* Takes in the Job as the answer to a request of ours shows it. */
void gate_see_answer(struct gate *g, struct gate_job *j, const struct job *seen);

#endif
