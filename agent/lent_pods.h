/*
 * The lent pods: those that the newest orders name and that are here, found by their directories in
 * the tier.
 */
#ifndef SLUICE_AGENT_LENT_PODS_H
#define SLUICE_AGENT_LENT_PODS_H

#include "agent/lent_pod.h"

struct lent_pods {
	struct site *site;
	struct orders *orders; /* the newest; NULL: none yet */
	struct link list;      /* struct lent_pod, as they were seen */
	size_t count;
	struct link owed; /* that are named no more, and not all of which could be taken back */
};

/* Goes over the pods. None may be dropped inside. */
#define each_lent_pod(all, p) list_each_entry(&(all)->list, struct lent_pod, p, in_pods)

void lent_pods_init(struct lent_pods *all, struct site *site);
/* Drops all pods, and the orders. */
void lent_pods_done(struct lent_pods *all);

/* Takes the newest orders, which are its own from now on. A pod that they do not name gets back what
 * was taken from it, and is dropped; what cannot be given back now is tried again at each scan. */
void lent_pods_take_orders(struct lent_pods *all, struct orders *o, int64_t now_ms);

/* Finds a pod that is here. NULL: it is not. */
struct lent_pod *lent_pods_find(const struct lent_pods *all, const struct uid *uid);
/* Looks at a directory of the tier: a lent pod that is new, or one of whose directories is. Returns
 * it; NULL: no lent pod. */
struct lent_pod *lent_pods_see(struct lent_pods *all, const char *name, int64_t now_ms);
/* Looks at all directories of the tier, drops pods that are gone, and gives back what is owed.
 * False: the tier is gone. */
bool lent_pods_scan(struct lent_pods *all, int64_t now_ms);
/* Drops all pods; what was written stays. */
void lent_pods_drop(struct lent_pods *all);

#endif
