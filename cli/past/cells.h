/*
 * What the tables of `sluice cost`, `report` and `history` share: figures, keys of rows, a run in
 * words, and what is said below them. Texts are as they came: whatever prints them replaces what a
 * terminal would obey.
 */
#ifndef SLUICE_CLI_PAST_CELLS_H
#define SLUICE_CLI_PAST_CELLS_H

#include "cli/commands.h"
#include "cli/local_times.h"

/* Returns a number of the answer; 0 where it is absent. */
double past_figure(const cJSON *row, const char *key);

/* Add cells that are aligned to the right. A time that is absent is "-". */
void past_put_seconds(struct table *t, const cJSON *row, const char *key);
void past_put_count(struct table *t, const cJSON *row, const char *key);

/* Adds the head of the first column: "QUEUE", or the label's key as it is. */
void past_put_by(struct table *t, const cJSON *root);
const char *past_key(const cJSON *row);
/* Appends the first field of the head in CSV: "queue", or the label's key. */
void past_csv_by(struct buf *out, const cJSON *root);
/* Appends a number; nothing where it is not known. */
void past_csv_number(struct buf *out, const cJSON *row, const char *key, int decimals);

enum { RUN_TEXT_MAX = 4096 };

bool past_run_is(const cJSON *run, const char *state);

/* Says what ended a run: "Finished", "Preempted for team/urgent". Nothing where that is not
 * known. */
void past_run_reason(const cJSON *run, struct buf *out);
/* Says why a run is in its state: "runs", "is about to start", "Preempted for team/urgent, its pods
 * are waited for". */
void past_run_why(const cJSON *run, struct buf *out);
/* Appends the cost of a run, "1.20 EUR". Nothing where it has no price, or has not ended. */
void past_run_cost(const cJSON *run, struct buf *out);

/* Says that a part of the answer is forgotten, where it is. l NULL: its times as they come. */
void past_put_note(const cJSON *root, struct local_times *l, struct buf *out);
/* Says that no run started in the time that was asked for. */
void past_put_none(const cJSON *root, struct local_times *l, struct buf *out);

#endif
