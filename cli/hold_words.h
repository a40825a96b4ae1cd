/*
 * What is said of a Job on hold, by its QueuedJob. The controller's message names kubectl's command,
 * for those who read it without this program; here it names this program's.
 */
#ifndef SLUICE_CLI_HOLD_WORDS_H
#define SLUICE_CLI_HOLD_WORDS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json.h"
#include "cli/local_times.h"

/* Tells whether the Job waits because it is on hold. */
bool hold_words_apply(const cJSON *job);
/* Appends "No start while it is on hold. To queue it again: sluice release job/a -n team" as
 * text_render() does, without an end. object: with metadata of the Job's name and namespace. */
void hold_words_no_start(const cJSON *object, struct buf *out);
/* Appends status.message as local_times_render() does. One that ends with the command that queues
 * the Job again ends with `sluice release job/a -n team`; without: before that. */
void hold_words_message(const cJSON *job, bool without, struct local_times *times, struct buf *out);

#endif
