/*
 * Random worlds whose Jobs book: two ClusterQueues, in one Cohort or each alone, two flavors, prices that
 * change every other hour, Jobs that want the cheapest start and Jobs that do not, runs that end
 * sooner or later than they said. And what the plan of such a world must be, in plain arithmetic on what
 * admins described.
 *
 * In worlds with reservations admins also make and delete AdvanceReservations, and no Job wants its cheapest
 * start. A run that is stopped for one has pods for some seconds more; then its owner deletes it.
 */
#ifndef SLUICE_TEST_QUEUE_PLANNED_H
#define SLUICE_TEST_QUEUE_PLANNED_H

#include "sluice/queue.h"
#include "test/sim/rng.h"

enum { PLANNED_JOBS = 60, PLANNED_QUEUES = 2, PLANNED_FLAVORS = 2, PLANNED_PRICES = 60 };
enum { PLANNED_RESERVATIONS = 6 };
#define MINUTE_MS INT64_C(60000)
#define HOUR_MS INT64_C(3600000)

struct planned_job {
	bool alive, runs, held, stopping;
	uint32_t number; /* of its making: its uid */
	int queue, class;
	int64_t cpu, created_ms;
	int64_t expected_ms; /* what it says: 0 nothing */
	int64_t lasts_ms;    /* what is true */
	bool cheapest, hold_when_missed;
	int64_t deadline_ms, max_price; /* 0: none */
	int64_t began_ms, ends_ms;
};

struct planned_queue {
	int64_t nominal[PLANNED_FLAVORS];
	int64_t lends; /* of the first flavor; QUOTA_UNLIMITED */
	bool in_cohort;
	enum queueing_strategy strategy;
};

struct planned_reservation {
	bool exists;
	uint32_t number;
	int queue, flavor;
	bool everywhere, maintenance;
	bool for_others; /* no Job of this world may use it */
	int64_t cpu;	 /* 0: all that there is */
	int64_t created_ms, from_ms, until_ms, release_after_ms;
};

struct planned {
	struct rng rng;
	struct queue *q;
	int64_t now_ms, next_ms; /* when the queue wants to be asked again */
	uint32_t made;
	struct planned_job job[PLANNED_JOBS];
	struct planned_queue queue[PLANNED_QUEUES];
	struct price_point price[PLANNED_PRICES];
	bool calm; /* runs last no longer than they say */
	bool reserves;
	struct planned_reservation reservation[PLANNED_RESERVATIONS];
	size_t started, stopped;
};

extern const char *const planned_queue_name[PLANNED_QUEUES];
extern const char *const planned_flavor_name[PLANNED_FLAVORS];

void planned_begin(struct planned *p, uint64_t seed, bool reserves);
/* All that there is to tell, but the Jobs, to a queue. */
void planned_tell_admins(const struct planned *p, struct queue *q);
void planned_tell_queue(const struct planned *p, struct queue *q, int queue);
void planned_tell_job(const struct planned *p, struct queue *q, const struct planned_job *j);
/* What of it outlives a queue is as that one shows it; NULL: nothing. */
void planned_tell_reservation(const struct planned *p, struct queue *q,
	const struct planned_reservation *r, const struct queue *shown_by);
void planned_drop_reservation(struct planned *p, struct planned_reservation *r);
void planned_name_reservation(const struct planned_reservation *r, char ret_name[32]);
/* Something happens to a Job or a queue, at random. */
void planned_event(struct planned *p);
/* No more Jobs come, none is held, and both queues have quota for each Job. */
void planned_calm(struct planned *p);
/* One decision at the most; seen: called with it, if there was one. True: there was. */
bool planned_decide(struct planned *p,
	void (*seen)(struct planned *p, struct planned_job *j, const struct decision *d));
/* Runs whose time has come end. The first that is still to end: INT64_MAX there is none. */
int64_t planned_end_runs(struct planned *p);
void planned_drop_all(struct planned *p);

struct uid planned_uid(const struct planned_job *j);
struct planned_job *planned_find(struct planned *p, const struct uid *uid);
int64_t planned_span_ms(const struct planned_job *j); /* as the plan has it */

/* ---- The plan in plain arithmetic -------------------------------------------------------------- */

/* What bookings of that moment use of a flavor at a ClusterQueue, all but those of one Job (NULL: of
 * none). */
__int128 planned_use(const struct planned *p, int queue, int flavor, int64_t at_ms,
	const struct planned_job *but);
/* So much is free beside them: below 0 where more is booked than there is. */
__int128 planned_free(const struct planned *p, int queue, int flavor, int64_t at_ms,
	const struct planned_job *but);
/* The first moment after at_ms at which a booking begins or ends; INT64_MAX: none. */
int64_t planned_next_change(const struct planned *p, int64_t at_ms);
/* That, and the plan's own sums, are the same at each moment from now on. */
void planned_compare_profiles(struct planned *p);

#endif
