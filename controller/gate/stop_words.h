/* The words of a stop: sentences for the Job's owner, the story and the note. They change nothing. */
#ifndef SLUICE_CONTROLLER_GATE_STOP_WORDS_H
#define SLUICE_CONTROLLER_GATE_STOP_WORDS_H

#include <stddef.h>

#include "sluice/queue.h"

struct buf;
struct gate;
struct gate_job;

#define DELETION_SIZE 640

/* Makes the sentence for a decision to stop a run, or take pods of it: yours, or NULL. */
char *stop_sentence(struct gate *g, const struct gate_job *j, const struct decision *d);
/* Says what the policy of that name does to a run: yours; NULL when the reason says it all. */
char *stop_policy_sentence(enum stop_reason r, const char *policy);

/* Names the Job that needs the room, "namespace/name": yours. NULL: it is gone. */
char *stop_name_preemptor(const struct gate_job *by);
/* Names that Job, if it is of the stopped one's namespace; else NULL. */
const char *stop_preemptor_shown(const struct gate_job *j);
/* Finds the ClusterQueue of the Job that needs the room; good until the next call on the queue. */
const char *stop_preempting_queue(struct gate *g, const struct decision *d);

/* Says who suspended the Job while it ran: "kubectl-edit at 2026-11-27T18:43:05Z", as far as known. */
void stop_put_suspender(const struct gate_job *j, struct buf *out);
/* Makes the sentence that holds a Job since it was suspended while it ran: yours. */
char *stop_suspension_sentence(const struct gate_job *j);
/* Says why the run was stopped, and that Kubernetes calls the Job Complete: yours. */
char *stop_ending_sentence(const char *why);

/* Says what keeps the pods of a Job that is being deleted, or is deleted, and the cure; "" when nothing
 * does. */
const char *deletion_words(const struct gate_job *j, char *ret, size_t size);

#endif
