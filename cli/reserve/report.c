#include "cli/reserve/report.h"

#include "cli/cents.h"
#include "cli/commands.h"
#include "cli/local_times.h"

static void put_cost(const cJSON *status, struct buf *out)
{
	if (!*text_of(status, "cost"))
		return;
	buf_puts(out, "It costs ");
	text_render(cents_of(text_of(status, "cost")).s, out);
	buf_putc(out, ' ');
	text_render(text_of(status, "currency"), out);
	buf_puts(out, " if all of it is used.\n");
}

static void put_refused(const char *name, struct buf *out)
{
	buf_printf(out,
		"The AdvanceReservation stays, and is tried again once a minute until it ends. To delete it: kubectl delete advancereservation %s\n",
		name);
}

static void put_unjudged(const char *name, struct buf *out)
{
	buf_printf(out,
		"AdvanceReservation %s is created, but no controller has judged it yet. kubectl get advancereservation %s shows when one does; sluice doctor says what is wrong\n",
		name, name);
}

void reserve_report_render(
	const char *name, const cJSON *object, enum reserve_verdict v, struct buf *out)
{
	const cJSON *status = json_object(object, "status");
	const char *message = text_of(reserve_condition(object), "message");
	if (v == RESERVE_UNJUDGED) {
		put_unjudged(name, out);
		return;
	}
	buf_printf(out, "AdvanceReservation %s is %s%s", name,
		v == RESERVE_ACCEPTED ? "accepted" : "not accepted", *message ? ": " : "");
	local_times_render(&(struct local_times){""}, message, out);
	buf_putc(out, '\n');
	if (v == RESERVE_ACCEPTED)
		put_cost(status, out);
	else
		put_refused(name, out);
}
