/* What view.c adds to an explanation. */
#ifndef SLUICE_CONTROLLER_GATE_VIEW_H
#define SLUICE_CONTROLLER_GATE_VIEW_H

struct explanation;
struct gate;
struct gate_job;

/* Of a Job that waits: says that idle room is closed to it, if it is. */
void explain_lending(const struct gate *g, const struct gate_job *j, struct explanation *x);

#endif
