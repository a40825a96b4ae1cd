/*
 * A user's line: so many of the user's Jobs may wait for quota at once (spec.limits.perUser.waiting
 * of a LocalQueue). The others are set aside (workload.h), and cost a pass nothing.
 *
 * In line stand those that were queued first, whatever their priority, so that the order in which a
 * new leader reads Jobs changes nothing. A Job counts while nothing but time or quota keeps it from
 * starting: not while it is held, say, nor once quota is promised to it.
 *
 * Placing a Job moves no other one. It stands in line at once if it was queued before the last that
 * stands there. What others have to do is done by user_lines_settle(), before and after starts: the
 * first of those set aside take the free places, and the last leave the line where there are too many.
 * Each move costs O(log n).
 *
 * A LocalQueue without that limit has no lines.
 */
#ifndef SLUICE_QUEUE_MODEL_USER_LINE_H
#define SLUICE_QUEUE_MODEL_USER_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct localqueue;
struct queue;
struct user;
struct workload;

/* The workload would wait for quota now. May it? If it is in line already, nothing changes. */
bool user_line_enter(struct queue *q, struct workload *w);
/* It stands nowhere any more, or waits for something else. */
void user_line_leave(struct queue *q, struct workload *w);
/* Is it set aside because others of its user stand in line? */
bool user_line_waits(const struct workload *w);

/* Moves Jobs until the right ones stand in each line. True: some Job was moved. */
bool user_lines_settle(struct queue *q);
/* The limit of the LocalQueue is another one. */
void user_lines_limited(struct queue *q, struct localqueue *lq);

/* How many stand in the user's line. */
size_t user_line_length(const struct user *u);

#endif
