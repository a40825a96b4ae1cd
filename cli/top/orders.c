#include "cli/top/orders.h"

#include <stdio.h>
#include <string.h>

static const cJSON *job_of(const struct top_order *order, const cJSON *list)
{
	json_each(job, json_array(list, "items"))
		if (top_job_is(job, order->ns, order->name))
			return job;
	return NULL;
}

static void add(struct top_orders *o, const struct top_view *v, enum top_wish wish)
{
	const cJSON *job = top_view_job(v);
	size_t at = o->n < TOP_ORDERS_MAX ? o->n : TOP_ORDERS_MAX - 1;
	struct top_order *order = &o->order[at];
	o->n = at + 1;
	*order = (struct top_order){.wish = wish, .ran = job && top_job_runs(job)};
	snprintf(order->ns, sizeof(order->ns), "%s", v->ns);
	snprintf(order->name, sizeof(order->name), "%s", v->name);
}

static bool takes_keys(const struct top_orders *o)
{
	enum top_wish last = o->n > 0 ? o->order[o->n - 1].wish : TOP_NOTHING;
	return !o->is_opening && o->n < TOP_ORDERS_MAX && last != TOP_EXPLAIN && last != TOP_QUIT;
}

void top_orders_press(
	struct top_orders *o, struct top_view *v, struct slice keys, const cJSON *list)
{
	struct top_press press;
	while (top_press_take(&keys, &press)) {
		bool is_q = press.key == TOP_KEY_CHARACTER && press.character == 'q';
		if (!takes_keys(o)) {
			if (is_q)
				add(o, v, TOP_QUIT);
			continue;
		}
		enum top_wish wish = top_view_press(v, &press, list);
		if (wish != TOP_NOTHING)
			add(o, v, wish);
	}
}

bool top_orders_quit(const struct top_orders *o)
{
	return o->n > 0 && o->order[o->n - 1].wish == TOP_QUIT;
}

/* Says why the order is left out; false: it is not. */
static bool leaves_out(struct top_view *v, const struct top_order *order, const cJSON *list)
{
	const cJSON *job = job_of(order, list);
	char why[TOP_SAID_SIZE];
	if (order->wish == TOP_QUIT)
		return false;
	if (!job)
		snprintf(why, sizeof(why), "%s/%s is no longer in the list: nothing was done",
			order->ns, order->name);
	else if (order->wish == TOP_HOLD && !order->ran && top_job_runs(job))
		snprintf(why, sizeof(why),
			"%s/%s runs by now: nothing was done, for a hold would stop it", order->ns,
			order->name);
	else
		return false;
	top_view_say(v, why);
	return true;
}

bool top_orders_take(
	struct top_orders *o, struct top_view *v, const cJSON *list, struct top_order *ret)
{
	while (o->n > 0) {
		*ret = o->order[0];
		memmove(o->order, o->order + 1, --o->n * sizeof(o->order[0]));
		if (!leaves_out(v, ret, list))
			return true;
	}
	return false;
}
