/*
 * Orders: what keys wished of which Job. A key is pressed when it is read, on the list that is shown
 * then, even while the next list is asked for; what it wishes is carried out later. So it is the
 * wish of the Job that was under the cursor, and no other Job is ever held in its place. Pure.
 */
#ifndef SLUICE_CLI_TOP_ORDERS_H
#define SLUICE_CLI_TOP_ORDERS_H

#include "cli/top/view.h"

enum { TOP_ORDERS_MAX = 32 };

struct top_order {
	enum top_wish wish;
	char ns[64], name[254];
	bool ran; /* the Job ran when it was wished */
};

struct top_orders {
	struct top_order order[TOP_ORDERS_MAX];
	size_t n;
	bool is_opening; /* a pane is about to be shown */
};

/* Presses the keys. Behind a wish for a pane, or one to quit, none is taken: it was meant for what is
 * not shown yet. */
void top_orders_press(
	struct top_orders *o, struct top_view *v, struct slice keys, const cJSON *list);
/* Tells whether one is to quit. */
bool top_orders_quit(const struct top_orders *o);

/* Takes the first one that can be carried out on this list. False: there is none. Of those that it
 * leaves out the view says why: the Job is not listed any more, or began to run, and a hold would
 * stop it. */
bool top_orders_take(
	struct top_orders *o, struct top_view *v, const cJSON *list, struct top_order *ret);

#endif
