#include "cli/ledger_down.h"

void ledger_down_put(const char *since, struct local_times *times, struct buf *out)
{
	buf_puts(out, "\nPostgres does not answer");
	if (*since) {
		buf_puts(out, " since ");
		local_times_render(times, since, out);
	}
	buf_puts(out, ": running Jobs go on, and no Job starts until it is back.\n");
}
