/*
 * AdvanceReservations in worlds with --bookings, most of them: admins make, edit and delete them, of quota
 * that there is or not, for seconds or minutes from now, or whenever a Calendar is open. Meanwhile
 * quotas are edited, runs last longer than they say, clocks step and leaders die.
 *
 * The object is modelled as the API server has it. Its status is the leader's word: that it was accepted,
 * and what was given back. The driver writes it as the real one does, at most once a second, late, and now
 * and then not at all. It names the uid and the version that it is about, so that it is not said of another
 * object of that name, and undoes nothing that another leader has said. If the status is seen to say another
 * thing than was written, it is written anew: in worlds with --restores, admins empty it now and then, as people
 * do who put back a manifest.
 *
 * P18, asked at each decision of a leader of what its queue has been told, by arithmetic on its views of
 * quota:
 *
 *   - what was accepted, as the object says, stays accepted, whoever leads, until it is deleted, or the
 *     API server goes back to when the object did not say so;
 *   - a status says so of an object only once a leader has found that this very object can be kept;
 *   - a leader that holds it accepted, and sees a status that does not say so, writes it, once a second at most;
 *   - in its time it has its quota: what its users hold and what is free are together what is still
 *     reserved. If not, Kept is false. Then pods of runs that were stopped, or are being deleted, have not
 *     ended; or quota was lowered, which has been said before;
 *   - that quota was lowered is said exactly if reservations alone do not fit;
 *   - no Job starts or grows over a reservation that it may not use, also before its time;
 *   - only runs that may not use it are stopped for it, and only in its time; where something of it may have
 *     been given back, not in the first three seconds of a leader;
 *   - where quota was lowered below what several keep, the older ones have what there is: no Job starts in a
 *     younger one over them;
 *   - nothing is given back before the status says so, nor before releaseAfter is over: the shortest that it ever was, for what was given
 *     back stays so when it is edited.
 *
 * When faults stop they are deleted, so that all that waited for them starts (P7).
 *
 * It draws from a generator of its own: other worlds stay what they were.
 */
#ifndef SLUICE_TEST_SIM_ADVANCE_H
#define SLUICE_TEST_SIM_ADVANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/queue.h"
#include "test/sim/people.h"
#include "test/sim/rng.h"

#define ADVANCE_WRITE_EVERY_MS 1000 /* a leader writes each status so often at most */

struct replica;
struct sim;

struct advance {
	struct rng rng;
	bool on;
	uint32_t made;
	/* That an object said so, and when: an incarnation each. */
	uint32_t promised[ADVANCES];
	int64_t promised_ms[ADVANCES];
};

/* What a replica has written of one, and when. */
struct advance_written {
	uint32_t incarnation;
	int64_t at_ms;
	bool under_way;
	struct advance_status status;
};

extern const char *const advance_names[ADVANCES];

void advance_begin(struct sim *s);
void advance_calm(struct sim *s);
/* The API server has gone back, and its objects with it. */
void advance_put_back(struct sim *s);

void advance_set(struct sim *s, struct queue *q, const struct config *c);
void advance_drop(struct queue *q, const struct config *c);

/* After a pass: the leader writes what has changed. */
void advance_write(struct sim *s, struct replica *r);

/* The queue of a controller has made these decisions at now_ms, by its clock. */
void advance_check(
	struct sim *s, struct replica *r, const struct decision *d, size_t n, int64_t now_ms);
/* The pass of a controller is over, and it has written what it would. */
void advance_check_pass(struct sim *s, const struct replica *r);
/* Says when, to what is planted in the queue. */
void advance_judges(int64_t now_ms);
/* Is it for Jobs of that namespace? */
bool advance_lets(const struct advance_object *a, const struct job *j);

#endif
