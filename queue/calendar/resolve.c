#include "queue/calendar/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/calendar/ics.h"
#include "queue/calendar/notation.h"

void resolved_done(struct resolved *r)
{
	for (size_t i = 0; i < r->spec.nexceptions; i++)
		free(r->date[i]);
	free(r->date);
	free(r->exception);
	*r = (struct resolved){0};
}

static int read_ics(struct slice text, struct date_range horizon, struct resolved *r,
	struct date_range **ret_date, size_t *ret_count, struct err *e)
{
	struct ics *ics;
	int rc = ics_read(text, horizon, &ics, e);
	if (rc < 0)
		return rc;
	if (ics->nskips > 0 && r->nleft_out == 0)
		r->left_out = ics->skip[0];
	r->nleft_out += ics->nskips;
	*ret_count = ics->nholidays;
	*ret_date = mem_array(ics->nholidays + 1, sizeof(**ret_date));
	for (size_t i = 0; i < ics->nholidays; i++)
		(*ret_date)[i] = ics->holiday[i].dates;
	ics_free(ics);
	return 0;
}

/* The exception's own dates first, then those of the text. */
static void join(struct exception_spec *x, struct date_range **own, const struct date_range *more,
	size_t nmore)
{
	struct date_range *all = mem_array(x->ndates + nmore + 1, sizeof(*all));
	if (x->ndates > 0)
		memcpy(all, x->date, x->ndates * sizeof(*all));
	if (nmore > 0)
		memcpy(all + x->ndates, more, nmore * sizeof(*all));
	x->date = *own = all;
	x->ndates += nmore;
}

static int add_dates(
	struct resolved *r, size_t i, struct slice text, struct date_range horizon, struct err *e)
{
	struct date_range *date = NULL;
	size_t n = 0;
	struct exception_spec *x = &r->exception[i];
	char shown[SLICE_SHOWN_SIZE], shown_key[SLICE_SHOWN_SIZE];
	if (!text.ptr)
		return err_set(e, ERR_GONE,
			"spec.except[%zu].datesFrom: there is no ConfigMap %s with key %s; create it, or remove datesFrom",
			i, slice_show(slice_of(x->dates_configmap), shown),
			slice_show(slice_of(x->dates_key), shown_key));
	bool is_ics = slice_starts(text, "BEGIN:VCALENDAR");
	int rc = is_ics ? read_ics(text, horizon, r, &date, &n, e)
			: notation_date_list(text, CALENDAR_DATES_MAX, &date, &n, e);
	if (rc < 0)
		err_wrap(e, "spec.except[%zu].datesFrom: ConfigMap %s", i,
			slice_show(slice_of(x->dates_configmap), shown));
	else
		join(x, &r->date[i], date, n);
	free(date);
	return rc;
}

int calendar_resolve(const struct calendar_spec *spec, const struct zone *zone,
	struct date_range horizon, resolve_find find, void *ctx, struct resolved *ret,
	struct err *e)
{
	struct resolved r = {.spec = *spec};
	int rc = 0;
	r.exception = mem_array(spec->nexceptions + 1, sizeof(*r.exception));
	r.date = mem_array(spec->nexceptions + 1, sizeof(*r.date));
	if (spec->nexceptions > 0)
		memcpy(r.exception, spec->exception, spec->nexceptions * sizeof(*r.exception));
	r.spec.zone = zone;
	r.spec.exception = r.exception;
	for (size_t i = 0; i < spec->nexceptions && rc == 0; i++) {
		struct slice text = {NULL, 0};
		if (!r.exception[i].dates_configmap || !*r.exception[i].dates_configmap)
			continue;
		if (find)
			text = find(r.exception[i].dates_configmap, r.exception[i].dates_key, ctx);
		rc = add_dates(&r, i, text, horizon, e);
	}
	if (rc == 0)
		*ret = r;
	else
		resolved_done(&r);
	return rc;
}
