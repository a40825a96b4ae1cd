/*
 * The history of one Job as a story: its runs, the oldest first, a paragraph each, and their sum. A
 * name that was used again is several Jobs: each has its story, the newest last.
 */
#ifndef SLUICE_CLI_PAST_STORY_H
#define SLUICE_CLI_PAST_STORY_H

#include "cli/local_times.h"
#include "base/json.h"

/* Appends the story of a JobHistory of one name. */
void past_story_put(const cJSON *root, struct local_times *times, struct buf *out);

#endif
