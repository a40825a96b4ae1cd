#include "controller/common/stamp.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json_writer.h"

static const char *stamp_render(int64_t ms, bool with_ms, char ret_text[STAMP_TEXT_SIZE])
{
	int64_t rest = ms % 1000;
	if (rest < 0)
		rest += 1000;
	time_t seconds = (time_t)((ms - rest) / 1000);
	struct tm tm;
	if (!gmtime_r(&seconds, &tm) || tm.tm_year < 1 - 1900 || tm.tm_year > 9999 - 1900)
		return strcpy(ret_text, "-");
	size_t n = strftime(ret_text, STAMP_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	if (with_ms)
		snprintf(ret_text + n, STAMP_TEXT_SIZE - n, ".%03dZ", (int)rest);
	else
		snprintf(ret_text + n, STAMP_TEXT_SIZE - n, "Z");
	return ret_text;
}

const char *stamp_format(int64_t ms, char ret_text[STAMP_TEXT_SIZE])
{
	return stamp_render(ms, true, ret_text);
}

const char *stamp_format_seconds(int64_t ms, char ret_text[STAMP_TEXT_SIZE])
{
	return stamp_render(ms, false, ret_text);
}

static bool is_known(int64_t ms)
{
	return ms > 0 && ms < INT64_MAX;
}

void stamp_put(struct json_writer *w, const char *key, int64_t ms)
{
	char text[STAMP_TEXT_SIZE];
	if (is_known(ms))
		jw_text(w, key, stamp_format_seconds(ms, text));
}

void stamp_put_exact(struct json_writer *w, const char *key, int64_t ms)
{
	char text[STAMP_TEXT_SIZE];
	if (is_known(ms))
		jw_text(w, key, stamp_format(ms, text));
}
