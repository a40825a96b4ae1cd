#include "controller/answers/watch_terms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TIMEOUT_MAX_SECONDS = 24 * 3600 };

/* Reads a bool of a query as Kubernetes does. */
static bool is_true(const char *text)
{
	return text && strcasecmp(text, "false") != 0 && strcmp(text, "0") != 0;
}

/* Takes a number; "" is 0. */
static bool take_number(const char *text, uint64_t *ret)
{
	char *end;
	errno = 0;
	*ret = 0;
	if (!text || !*text)
		return true;
	if (*text < '0' || *text > '9')
		return false;
	*ret = strtoull(text, &end, 10);
	return errno == 0 && !*end;
}

bool watch_wanted(const struct watch_words *w)
{
	return is_true(w->watch);
}

int watch_terms_take(struct watch_terms *t, const struct watch_words *w, struct err *e)
{
	uint64_t seconds = 0;
	*t = (struct watch_terms){.bookmarks = is_true(w->bookmarks)};
	if (!take_number(w->version, &t->version))
		return err_set(e, ERR_INVALID,
			"resourceVersion is \"%.40s\"; it must be what a list or an event gave as metadata.resourceVersion",
			w->version);
	if (!take_number(w->timeout, &seconds))
		return err_set(e, ERR_INVALID,
			"timeoutSeconds is \"%.40s\"; it must be a number, such as 300",
			w->timeout);
	if (seconds > TIMEOUT_MAX_SECONDS)
		seconds = TIMEOUT_MAX_SECONDS;
	t->timeout_ms = (int64_t)seconds * 1000;
	t->tells_all = w->initial ? is_true(w->initial) : t->version == 0;
	t->marks_end_of_all = w->initial && t->tells_all && t->bookmarks;
	if (t->tells_all)
		t->version = 0; /* the watch tells newer states */
	return 0;
}

uint64_t watch_version(uint64_t moment, unsigned part)
{
	return moment * WATCH_PARTS + (part < WATCH_PARTS ? part : WATCH_PARTS - 1);
}

uint64_t watch_moment(uint64_t version)
{
	return version % WATCH_PARTS ? 0 : version / WATCH_PARTS;
}
