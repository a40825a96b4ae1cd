/*
 * The clock on the wall, for all of the controller: by it is decided, written and told. In a build for
 * users it is the machine's and nothing else. (The one for pauses: base/monotonic.h.)
 *
 * A test build (SLUICE_TEST_CLOCK, preset dev) can be told that it is another time: an offset,
 * which may change at any moment while the program runs, and a rate. So the program has two times
 * of day: its own, and that of the machines around it. What comes from the API server says the
 * latter (creationTimestamp, startTime ...), and is brought to ours in one place, as soon as it is
 * decoded: as our clock stood when theirs said so. Timers of the loop, timeouts, the lease in
 * Postgres stay with the machine.
 */
#ifndef SLUICE_CONTROLLER_COMMON_CLOCK_H
#define SLUICE_CONTROLLER_COMMON_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sluice/job.h"

int64_t clock_now_ms(void); /* the clock on the wall */

/* What our clock says, or said, when the machine's says ms; and how long the machine's takes until
 * ours says until_ms: 0 when it is past. INT64_MAX stays what it is. */
int64_t clock_of_machine_ms(int64_t ms);
/* Tells what our clock says when that of the loop, ev_now(), says now_s. */
int64_t clock_of_loop_ms(double now_s);
int64_t clock_machine_wait_ms(int64_t until_ms);

/* The times in a Job that was just decoded. */
void clock_bring_job(struct job *j);

/* ---- test builds ----------------------------------------------------------------------------- */

/*
 * "+14h30m", "-2h", "0": so much later than the machine. "@FILE": a file with that, which is read
 * again when it changes. The offset is that at the file's time of change, from which on the rate
 * counts; so a program that is started again, or a second one, has the same time. A file may tell
 * the whole story instead, a line for each step, in order: "2026-11-21T10:00:00Z +14h30m" is the
 * offset from that time of the machine's on.
 *
 * Both: ERR_INVALID with a sentence, in builds for users always.
 */
int clock_set_offset(const char *text, struct err *e);
int clock_set_rate(const char *text, struct err *e); /* "60": a minute each second */

/* Reads the file again if it changed; true when the clock is another one now. A file that cannot be
 * read or understood changes nothing, and is said in *e once (else e->text is ""). */
bool clock_look(struct err *e);
bool clock_has_file(void);

#endif
