/*
 * The table of the Jobs that the gate knows: by uid, by name, and in the order they were first
 * seen. A walk of all goes by that order, so nothing that comes out depends on a hash or an
 * address. observe.c makes their records, and forgets them.
 */
#ifndef SLUICE_CONTROLLER_GATE_JOB_TABLE_H
#define SLUICE_CONTROLLER_GATE_JOB_TABLE_H

struct gate;
struct gate_job;
struct uid;

void job_table_init(struct gate *g);
void job_table_done(struct gate *g);

/* Puts a new record behind all others; takes it out. */
void job_table_join(struct gate *g, struct gate_job *j);
void job_table_leave(struct gate *g, struct gate_job *j);

struct gate_job *gate_find_job(const struct gate *g, const struct uid *uid); /* or NULL */
/* Finds the newest Job of that name on the watch, else the newest that is lost; NULL: none. */
struct gate_job *gate_job_named(const struct gate *g, const char *ns, const char *name);

#endif
