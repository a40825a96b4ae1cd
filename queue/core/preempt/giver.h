/*
 * A giver: a run that may give pods, while a search tries how many it keeps. THEN follows each try, so
 * the search asks quota itself whether that is enough.
 *
 * Two searches try givers: pods_first.h, for a Job or for a window that opens, and
 * features/windows/smaller_quota.h, for a window that has made quota smaller. They choose in
 * opposite orders, so each has its own loop. Searches that only stop whole runs (preemption.h, and
 * with its victims features/windows/lead.h and features/bookings/advance_clear.h) need no givers:
 * they take runs away and put them back.
 */
#ifndef SLUICE_QUEUE_CORE_PREEMPT_GIVER_H
#define SLUICE_QUEUE_CORE_PREEMPT_GIVER_H

#include "queue/core/model/reservation.h"

struct giver {
	struct reservation *r;
	int32_t least; /* it can do with so few; 0: it can only stop */
	int32_t most;  /* that it has THEN, while none is tried */
	int32_t keeps; /* as it is tried; 0: it stops */
};

/* Makes a giver of the run: it keeps all its pods at first. */
struct giver giver_of(struct reservation *r);

/* Tries the giver with so many pods. */
void giver_keep(struct giver *g, int32_t pods);
/* Tries the giver with the most pods, `low` or more, with which it suits; with `low` if it never
 * does. What suits must suit with fewer pods, too. */
void giver_keep_most(struct giver *g, int32_t low,
	bool (*suits)(const void *search, const struct giver *g), const void *search);

#endif
