#include "cli/simulate/length.h"

#include <inttypes.h>
#include <stdio.h>

const char *length_text(int64_t ms, char text[LENGTH_TEXT_SIZE])
{
	int64_t s = ms / 1000;
	if (ms < 60000)
		snprintf(text, LENGTH_TEXT_SIZE, ms % 1000 ? "%.1fs" : "%.0fs", (double)ms / 1000);
	else if (s < 3600)
		snprintf(text, LENGTH_TEXT_SIZE, "%" PRId64 "m %" PRId64 "s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(
			text, LENGTH_TEXT_SIZE, "%" PRId64 "h %" PRId64 "m", s / 3600, s / 60 % 60);
	else
		snprintf(text, LENGTH_TEXT_SIZE, "%" PRId64 "d %" PRId64 "h", s / 86400,
			s / 3600 % 24);
	return text;
}
