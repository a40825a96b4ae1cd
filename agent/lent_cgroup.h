/*
 * A cgroup of a lent pod, the pod's own or a container's: its directories, the files that are
 * written there (knobs), and what it uses (gauge).
 *
 * It has a directory in each hierarchy. They are made one after the other, and each is opened as it
 * comes.
 */
#ifndef SLUICE_AGENT_LENT_CGROUP_H
#define SLUICE_AGENT_LENT_CGROUP_H

#include "agent/knob.h"
#include "agent/meter.h"
#include "agent/site.h"
#include "node/orders.h"

struct lent_cgroup {
	char id[CONTAINER_ID_SIZE]; /* "": the pod's own */
	char *dir[HIERARCHIES];	    /* NULL: not made yet, or none there */
	struct knob knob[KNOB_KINDS];
	struct gauge gauge;
	struct reading now; /* newest */
	struct load asked;
};

void lent_cgroup_init(struct lent_cgroup *c);
void lent_cgroup_done(struct lent_cgroup *c, struct site *site);

/* Takes a directory for that of the cgroup in one hierarchy, and opens its files. owner: who is told
 * of writes by others. */
void lent_cgroup_take_dir(
	struct lent_cgroup *c, struct site *site, enum hierarchy h, const char *dir, void *owner);

/* Tells in which hierarchy a knob is. */
enum hierarchy hierarchy_of(enum knob_kind kind);

/* Ends all its processes (cgroup.kill). Returns 0 or the errno. */
int lent_cgroup_kill(const struct lent_cgroup *c);
/* Whether processes are in it. */
bool lent_cgroup_is_populated(const struct lent_cgroup *c);

#endif
