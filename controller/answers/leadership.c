#include "controller/answers/leadership.h"

#include <string.h>

#include "base/instant.h"
#include "queue/job/text.h"

#define AGAIN "ask again in a moment"

static void add_nobody(const struct leadership *l, struct text *t)
{
	text_add(t, "nobody is known to lead");
	if (*l->lease.holder)
		text_add(t, " since %s, when the lease of %.200s ended",
			instant_seconds(l->lease.ends_ms).s, l->lease.holder);
	if (*l->ledger_trouble)
		text_add(t,
			"; running Jobs go on, and nothing new starts until the ledger is connected: %.500s",
			l->ledger_trouble);
	else
		text_add(t, "; " AGAIN);
}

const char *leadership_why_not(
	const struct leadership *l, const char *cure, char ret[LEADERSHIP_TEXT_SIZE])
{
	struct text t = text_over(ret, LEADERSHIP_TEXT_SIZE);
	bool held = *l->lease.holder && l->lease.ends_ms > l->now_ms;
	if (l->leads)
		return NULL;
	if (held && strcmp(l->lease.holder, l->identity) != 0)
		text_add(&t, "this controller stands by, and %.200s leads: %s", l->lease.holder,
			cure);
	else if (held && !*l->ledger_trouble)
		text_add(&t, "this controller has the lease and is about to lead: " AGAIN);
	else
		add_nobody(l, &t);
	return ret;
}
