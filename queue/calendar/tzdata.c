#include "queue/calendar/tzdata.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "base/slice.h"
#include "queue/calendar/civil.h"

#define FROM_S INT64_C(0)
#define TO_S INT64_C(4133980800) /* 2101-01-01: the end of 2100 */
/* No zone changes and changes back within this, so a sample every step misses nothing. The shortest
 * was a week less an hour, in Brazil in 2000. test/model/zones.py checks the whole database. */
#define STEP_S (3 * DAY_S)

static const char *directory(void)
{
	const char *tzdir = getenv("TZDIR");
	return tzdir && *tzdir ? tzdir : "/usr/share/zoneinfo";
}

/* ---- is there such a zone? ------------------------------------------------------------------- */

static bool name_is_plain(const char *name)
{
	size_t len = strlen(name);
	if (len == 0 || len >= ZONE_NAME_SIZE || name[0] == '/' || strstr(name, "..") ||
		strstr(name, "//") || name[len - 1] == '/')
		return false;
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("/_+-", *p))
			return false;
	return true;
}

/* Tells whether a zone is not the same everywhere: the machine's own, and zones with leap
 * seconds. */
static bool name_is_local(const char *name)
{
	return strcmp(name, "localtime") == 0 || strcmp(name, "posixrules") == 0 ||
	       strncmp(name, "right/", 6) == 0;
}

/* Will the C library accept the file, as far as can be told without parsing it? */
static bool file_is_zone(const char *path)
{
	char head[5] = "";
	struct stat st;
	FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
	if (!f)
		return false;
	bool good = fread(head, 1, sizeof(head), f) == sizeof(head) && memcmp(head, "TZif", 4) == 0;
	/* From version 2 on it ends with a rule on a line of its own. */
	if (good && head[4] >= '2')
		good = fseek(f, -1, SEEK_END) == 0 && fgetc(f) == '\n';
	fclose(f);
	return good;
}

static int check(const char *name, struct err *e)
{
	char path[512], shown[SLICE_SHOWN_SIZE];
	struct stat st;
	slice_show(slice_of(name), shown);
	if (name_is_plain(name) && name_is_local(name))
		return err_set(e, ERR_INVALID,
			"%s is no zone that means the same everywhere; write an IANA name such as Europe/Berlin",
			shown);
	if (!name_is_plain(name))
		return err_set(e, ERR_INVALID,
			"%s is not the name of a time zone; write an IANA name such as Europe/Berlin, or UTC",
			shown);
	if (stat(directory(), &st) != 0 || !S_ISDIR(st.st_mode))
		return err_set(e, ERR_GONE,
			"%s cannot be looked up: there is no zone database in %.200s; install the package tzdata, or write UTC",
			shown, directory());
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory(), name) < sizeof(path) &&
		file_is_zone(path))
		return 0;
	return err_set(e, ERR_INVALID,
		"%s is not in this machine's zone database; write an IANA name such as Europe/Berlin, with its capitals, or UTC",
		shown);
}

/* ---- Its table ------------------------------------------------------------------------------- */

/* Sets TZ (NULL: unsets it), and returns what was set before; the caller frees it. */
static char *swap_tz(const char *value)
{
	char *before = mem_strdup(getenv("TZ"));
	if (value)
		setenv("TZ", value, 1);
	else
		unsetenv("TZ");
	tzset();
	return before;
}

static struct zone_span read_at(int64_t at_s)
{
	time_t t = (time_t)at_s;
	struct tm tm = {0};
	struct zone_span s = {.from_s = at_s};
	if (!localtime_r(&t, &tm))
		return s;
	s.offset_s = (int32_t)tm.tm_gmtoff;
	snprintf(s.abbreviation, sizeof(s.abbreviation), "%s", tm.tm_zone ? tm.tm_zone : "");
	for (char *p = s.abbreviation; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '+' && *p != '-')
			*p = '?';
	return s;
}

static bool same(const struct zone_span *a, const struct zone_span *b)
{
	return a->offset_s == b->offset_s && strcmp(a->abbreviation, b->abbreviation) == 0;
}

/* The first instant after low with another offset or name, given that high has one. */
static struct zone_span find_change(const struct zone_span *low, struct zone_span high)
{
	int64_t low_s = low->from_s;
	while (high.from_s - low_s > 1) {
		struct zone_span middle = read_at(low_s + (high.from_s - low_s) / 2);
		if (same(low, &middle))
			low_s = middle.from_s;
		else
			high = middle;
	}
	return high;
}

/* Of the zone that TZ is set to. Returns how many; *ret_span is the caller's. */
static size_t read_spans(struct zone_span **ret_span)
{
	size_t n = 1, room = 64;
	struct zone_span *span = mem_array(room, sizeof(*span));
	span[0] = read_at(FROM_S);
	for (int64_t at_s = FROM_S + STEP_S; at_s < TO_S; at_s += STEP_S) {
		struct zone_span here = read_at(at_s), before = span[n - 1];
		if (same(&before, &here))
			continue;
		before.from_s = before.from_s > at_s - STEP_S ? before.from_s : at_s - STEP_S;
		if (n == room)
			span = mem_grow(span, room *= 2, sizeof(*span));
		span[n++] = find_change(&before, here);
		at_s -= STEP_S; /* there may be another change in this step */
	}
	*ret_span = span;
	return n;
}

int tzdata_load(const char *name, struct zone **ret_zone, struct err *e)
{
	char value[ZONE_NAME_SIZE + 1];
	struct zone_span *span;
	if (strcmp(name, "UTC") == 0) {
		*ret_zone = zone_utc();
		return 0;
	}
	int rc = check(name, e);
	if (rc < 0)
		return rc;
	snprintf(value, sizeof(value), ":%s", name);
	char *before = swap_tz(value);
	size_t n = read_spans(&span);
	free(swap_tz(before));
	free(before);
	*ret_zone = zone_new(name, span, n);
	free(span);
	return 0;
}

struct zone *tzdata_local(void)
{
	const char *name = getenv("TZ");
	struct zone_span *span;
	tzset();
	size_t n = read_spans(&span);
	if (name && *name == ':')
		name++;
	struct zone *zone = zone_new(name && check(name, NULL) == 0 ? name : "local time", span, n);
	free(span);
	return zone;
}

/* ---- which edition --------------------------------------------------------------------------- */

/* The first line of a file of the database, "" when there is none. */
static void first_line(const char *file, char *ret, size_t size)
{
	char path[512];
	ret[0] = '\0';
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory(), file) >= sizeof(path))
		return;
	FILE *f = fopen(path, "r");
	if (!f)
		return;
	if (!fgets(ret, (int)size, f))
		ret[0] = '\0';
	fclose(f);
	ret[strcspn(ret, "\r\n")] = '\0';
}

const char *tzdata_version(char ret_text[TZDATA_VERSION_SIZE])
{
	static const char *const lead = "# version ";
	char line[128];
	const char *version = line;
	first_line("tzdata.zi", line, sizeof(line));
	if (strncmp(line, lead, strlen(lead)) == 0)
		version += strlen(lead);
	else
		first_line("+VERSION", line, sizeof(line));
	size_t n = 0;
	while (n + 1 < TZDATA_VERSION_SIZE && isalnum((unsigned char)version[n]))
		n++;
	snprintf(ret_text, TZDATA_VERSION_SIZE, "%.*s", n ? (int)n : 7, n ? version : "unknown");
	return ret_text;
}
