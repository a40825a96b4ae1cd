#include "controller/ledger/ledger.h"

#include "base/must.h"

const char *ledger_kind_name(enum ledger_kind k)
{
	switch (k) {
	case LEDGER_RESERVE:
		return "RESERVE";
	case LEDGER_COMMIT:
		return "COMMIT";
	case LEDGER_STOP:
		return "STOP";
	case LEDGER_SHRINK:
		return "SHRINK";
	case LEDGER_RELEASE:
		return "RELEASE";
	case LEDGER_VOID:
		return "VOID";
	case LEDGER_CEILING:
		return "CEILING";
	}
	must_not_get_here();
}
