#include "controller/answers/sources.h"

#include <ev.h>

#include "controller/common/clock.h"

struct leadership sources_leadership(const struct answer_sources *s)
{
	return (struct leadership){.leads = gate_leading(s->gate),
		.identity = s->identity,
		.lease = dispatcher_lease(s->dispatcher),
		.ledger_trouble = s->state->ledger_trouble,
		.now_ms = clock_of_loop_ms(ev_now(s->loop))};
}
