#include "controller/answers/sources.h"

#include <ev.h>

#include "controller/common/clock.h"

int64_t sources_now_ms(const struct answer_sources *s)
{
	return clock_of_machine_ms((int64_t)(ev_now(s->loop) * 1000.0));
}

struct leadership sources_leadership(const struct answer_sources *s)
{
	return (struct leadership){.leads = gate_leading(s->gate),
		.identity = s->identity,
		.lease = dispatcher_lease(s->dispatcher),
		.ledger_trouble = s->state->ledger_trouble,
		.now_ms = sources_now_ms(s)};
}
