#include "cli/ledger_down.h"

void ledger_down_put(const char *since, struct local_times *times, struct buf *out)
{
	buf_puts(out, *since ? "Postgres has not answered since " : "Postgres does not answer");
	local_times_render(times, since, out);
	buf_puts(out, ": running Jobs continue, but no Job starts until it is back.\n");
}
