/*
 * The report of `sluice start`: when a Job starts, and what that rests on, by its QueuedJob.
 *
 *     Tue 14:10 CET; by 15:30 with 90 %
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

/* True if the Job waits, and its start will be known in a moment: the queue has not been played
 * since somebody asked. False where the controller plays none (--forecasts off). */
bool start_report_is_to_come(const cJSON *job);

/* Appends the first line, without its end, for status.start of a QueuedJob that waits. */
void start_report_line(const cJSON *start, int64_t now_ms, struct buf *out);
/* Appends the first line for a start that does not say how many plays it is of. */
void start_report_line_of(const cJSON *start, int64_t draws, int64_t now_ms, struct buf *out);
/* Appends "was 14:10 CET until 12:03; since: 3 Jobs came that start before it", without an end,
 * where another start was told before. False: none was, or it was much the same. */
bool start_report_moved(const cJSON *start, int64_t now_ms, struct buf *out);
void start_report_render(const cJSON *job, int64_t now_ms, struct buf *out);
/* Appends {"namespace", "name", "state", "reason", "message", "startAt", "start"}. start is as
 * visibility.sluice.dev has it, null where it is not known. */
void start_report_json(const cJSON *job, struct buf *out);

#endif
