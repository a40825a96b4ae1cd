#include "cli/ledger_down.h"

void ledger_down_put(const char *since, struct local_times *times, struct buf *out)
{
	buf_puts(out, *since ? "\nPostgres has not answered since " : "\nPostgres does not answer");
	local_times_render(times, since, out);
	buf_puts(out, ": running Jobs continue, but no Job starts until it is back.\n");
}
