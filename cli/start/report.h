/*
 * The report of `sluice when`: when a Job starts, and what that rests on, by its QueuedJob.
 *
 *     Expected start Tue 14:10 CET, 90 % sure by 15:30.
 *
 * Pure: a tree goes in, text comes out. Times are in the user's zone, which the first of them
 * names; a time of today has no day, a time of this week its name.
 */
#ifndef SLUICE_CLI_START_REPORT_H
#define SLUICE_CLI_START_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "cli/short_times.h"

/* True if the Job waits, and its start will be known in a moment: the queue has not been played
 * since somebody asked. False where the controller plays none (--forecasts off). */
bool start_report_is_to_come(const cJSON *job);

/* Appends the first line, a sentence, of status.start of a QueuedJob that waits. */
void start_report_line(const cJSON *start, struct short_times *times, struct buf *out);
/* Appends the first line of a start that does not say itself of how many simulations it is. */
void start_report_line_of(
	const cJSON *start, int64_t draws, struct short_times *times, struct buf *out);
/* Appends "Until 12:03 CET the expected start was 14:10. Since then: 3 new Jobs are expected to start before this one."
 * where another start was told before. False: none was, or it was much the same. */
bool start_report_moved(const cJSON *start, struct short_times *times, struct buf *out);
/* Appends "Simulated 16 times", without an end. */
void start_report_simulated(int64_t times, struct buf *out);
void start_report_render(const cJSON *job, int64_t now_ms, struct buf *out);
/* Appends {"namespace", "name", "state", "reason", "message", "startAt", "start"}. start is as
 * visibility.sluice.dev has it, null where it is not known. */
void start_report_json(const cJSON *job, struct buf *out);

#endif
