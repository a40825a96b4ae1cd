/*
 * The clock on the wall, for all of the controller: by it is decided, written and told. In a build
 * for users it is the machine's and nothing else. (The one for pauses: base/monotonic.h.)
 *
 * A test build (SLUICE_TEST_CLOCK, preset dev) can be told that it is another time: an offset,
 * which may change while the program runs, and a rate. So the program has two times of day: its
 * own, and that of the machines around it. The API server tells the latter (creationTimestamp,
 * startTime ...). These are brought to ours in one place, as soon as they are decoded: to what our
 * clock said at that moment. Timers of the loop, timeouts, the lease in Postgres stay with the
 * machine.
 */
#ifndef SLUICE_CONTROLLER_COMMON_CLOCK_H
#define SLUICE_CONTROLLER_COMMON_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sluice/job.h"

int64_t clock_now_ms(void); /* the clock on the wall */

/* Tell what our clock says, or said, when the machine's says ms; and how long the machine's takes
 * until ours says until_ms: 0 when it is past. INT64_MAX stays what it is. */
int64_t clock_of_machine_ms(int64_t ms);
/* Tells what our clock says when that of the loop, ev_now(), says now_s. */
int64_t clock_of_loop_ms(double now_s);
int64_t clock_machine_wait_ms(int64_t until_ms);

/* Brings the times in a Job that was just decoded to our clock. */
void clock_bring_job(struct job *j);

/* ---- test builds ----------------------------------------------------------------------------- */

/*
 * Sets the offset:
 *
 *   "+14h30m", "-2h", "0"   so much later than the machine;
 *   "@FILE"                 a file with that, which is read again when it changes.
 *
 * The offset of a file is that at the file's time of change, from which on the rate counts. So a
 * program that is started again, or a second one, has the same time. A file may tell the whole
 * story instead, a line for each step, in order: "2026-11-21T10:00:00Z +14h30m" is the offset from
 * that time of the machine's on.
 *
 * Both: ERR_INVALID with a sentence, in builds for users always.
 */
int clock_set_offset(const char *text, struct err *e);
int clock_set_rate(const char *text, struct err *e); /* "60": a minute each second */

/* Reads the file again if it changed; true when the clock is another one now. A file that cannot be
 * read or understood changes nothing, and is told in *e once (else e->text is ""). */
bool clock_look(struct err *e);
bool clock_has_file(void);

#endif
