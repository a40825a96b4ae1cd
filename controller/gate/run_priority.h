/*
 * The priority of a run, in its story. A run whose priority class is not there keeps the number
 * that counted last (docs/queues.md). The queue keeps that number. The queue of the next leader
 * does not know it, and is told what the story says (queue_recall_priority()).
 *
 * The story of a start, a shrink and a growth tells the number that counts then. An edit of a class writes to no
 * Job: there may be a hundred thousand. So where a class is edited, goes, and then the leader changes, the number
 * of the run's last story counts.
 *
 * A story is believed only if it is signed, and tells of the attempt that runs. The queue takes what it says only
 * of a run that was adopted and whose class it has not seen since. So a client that may write the annotation
 * can put back no more than a number that this run had.
 */
#ifndef SLUICE_CONTROLLER_GATE_RUN_PRIORITY_H
#define SLUICE_CONTROLLER_GATE_RUN_PRIORITY_H

#include <stdint.h>

struct gate;
struct gate_job;
struct story;

/* Puts the number into a story of the run. */
void run_priority_tell(const struct gate *g, const struct gate_job *j, struct story *s);
/* Tells the queue what an adopted run's story says, if it is of that attempt. Ends what the reader
 * gave before. */
void run_priority_recall(struct gate *g, const struct gate_job *j, int32_t attempt);

#endif
