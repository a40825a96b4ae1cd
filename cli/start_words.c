#include "cli/start_words.h"

#include "base/span.h"

void start_words_put(int64_t in_ms, bool time_decides, struct buf *out)
{
	if (in_ms <= 0)
		buf_puts(out, "due");
	else if (time_decides)
		buf_printf(out, "in %s", span_short(in_ms).s);
	else
		buf_printf(out, "in about %s", span_about(in_ms).s);
}
