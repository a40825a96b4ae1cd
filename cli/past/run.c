#include "cli/past/run.h"

#include <string.h>

#include "cli/cents.h"
#include "cli/commands.h"

bool past_run_is(const cJSON *run, const char *state)
{
	return strcmp(text_of(run, "state"), state) == 0;
}

void past_run_reason(const cJSON *run, struct buf *out)
{
	const char *reason = text_of(run, "reason"), *preemptor = text_of(run, "preemptor");
	buf_puts(out, reason);
	if (*preemptor)
		buf_printf(out, " for %s", preemptor);
	else if (strcmp(reason, "Preempted") == 0) /* of another namespace, or gone by then */
		buf_puts(out, " for another Job");
}

void past_run_why(const cJSON *run, struct buf *out)
{
	if (past_run_is(run, "Running")) {
		buf_puts(out, "running");
	} else if (past_run_is(run, "Reserved")) {
		buf_puts(out, "starting");
	} else {
		past_run_reason(run, out);
		if (past_run_is(run, "Stopping"))
			buf_puts(out, ", waiting for its pods to end");
	}
}

void past_run_cost(const cJSON *run, struct buf *out)
{
	if (text_of(run, "cost")[0])
		buf_printf(
			out, "%s %s", cents_of(text_of(run, "cost")).s, text_of(run, "currency"));
}
