/* Observers of runs, for the rule of singletons (singleton.c). */
#ifndef SLUICE_QUEUE_RULES_DEPENDENCIES_SINGLETON_H
#define SLUICE_QUEUE_RULES_DEPENDENCIES_SINGLETON_H

struct queue;
struct reservation;

void singleton_promised(struct queue *q, struct reservation *r);
void singleton_runs(struct queue *q, struct reservation *r);
void singleton_over(struct queue *q, struct reservation *r);

#endif
