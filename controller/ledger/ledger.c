#include "controller/ledger/ledger.h"

#include "base/must.h"

const char *ledger_kind_name(enum ledger_kind k)
{
	switch (k) {
	case LEDGER_RESERVE:
		return "RESERVE";
	case LEDGER_ADOPT:
		return "ADOPT";
	case LEDGER_COMMIT:
		return "COMMIT";
	case LEDGER_STOP:
		return "STOP";
	case LEDGER_SHRINK:
		return "SHRINK";
	case LEDGER_GROW:
		return "GROW";
	case LEDGER_RELEASE:
		return "RELEASE";
	case LEDGER_VOID:
		return "VOID";
	case LEDGER_CEILING:
		return "CEILING";
	}
	must_not_get_here();
}

struct ledger_mark ledger_mark_since(int64_t since_ms)
{
	static const int64_t year_2000_ms = 946684800000, most_ms = INT64_MAX / 4000;
	if (since_ms > most_ms)
		since_ms = most_ms;
	if (since_ms < 0)
		since_ms = 0;
	return (struct ledger_mark){.ended_us = (since_ms - year_2000_ms) * 1000};
}
