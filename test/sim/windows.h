/*
 * Time and money in a world: Calendars, RunPolicies, a PricePlan and Budgets, how a queue is told
 * of them, and the model of what they mean.
 *
 * The model is plain arithmetic on what admins described, nothing remembered and nothing shared
 * with the code that is tested: a window is open when the minutes of the clock say so. Windows are
 * minutes long, as worlds are; by days there are some too, in zones with an offset, and controllers
 * whose clocks are hours off cross their ends.
 *
 * P5 is checked at the decision, by what the controller that decides has been told and by its own
 * clock (that is what "open" means), and when the start PATCH sets out: not after its queue has
 * called it off. P6 is in promises.c.
 */
#ifndef SLUICE_TEST_SIM_WINDOWS_H
#define SLUICE_TEST_SIM_WINDOWS_H

#include "sluice/queue.h"
#include "test/sim/people.h"

struct replica;
struct snap;

void windows_begin(struct sim *s);
/* An admin edits something of time or money. */
void windows_edit(struct sim *s);
/* Faults and people stop: whatever fits is let in, but bills go on. */
void windows_calm(struct sim *s);
/* What a user asks of time and money. */
void windows_draw_terms(struct sim *s, struct snap *n);

/* Of the four kinds. */
void windows_set(struct sim *s, struct queue *q, const struct config *c);
void windows_drop(struct queue *q, const struct config *c);
/* What this controller knows from now on. */
void windows_heard(struct replica *r, const struct config *c);

/* Is it open at at_ms by that clock, and until when? */
bool window_is_open(const struct config *calendar, int64_t at_ms, int64_t *ret_closes_ms);

/* From now on the decisions of this world's gates are looked over. */
void windows_watch(struct sim *s);
/* A start sets out. */
void windows_check_sent(struct sim *s, const struct replica *r, const struct uid *uid);

extern const char *const calendar_names[CALENDARS];
extern const char *const budget_names[BUDGETS];

#endif
