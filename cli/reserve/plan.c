#include "cli/reserve/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/span.h"
#include "cli/commands.h"
#include "cli/short_times.h"
#include "queue/calendar/civil.h"
#include "sluice/quantity.h"

enum { DAY_MS = 24 * 3600 * 1000, LIST_MAX_BYTES = 64 * 1024, QUEUE_NAME_MAX = 180 };

/* ---- which resource -------------------------------------------------------------------------- */

bool reserve_plan_wants_queue(const struct reserve_options *o)
{
	for (size_t i = 0; i < o->namounts; i++)
		if (o->amount[i].amount && !o->amount[i].resource)
			return true;
	return false;
}

/* Finds the flavor in a ClusterQueue's object, and appends each flavor's name. NULL: it has none of
 * that name. */
static const cJSON *find_flavor(const cJSON *clusterqueue, struct slice name, struct buf *names)
{
	const cJSON *found = NULL;
	json_each(group, json_array(json_object(clusterqueue, "spec"), "resourceGroups"))
		json_each(flavor, json_array(group, "flavors")) {
			buf_printf(names, "%s%s", names->len ? ", " : "", text_of(flavor, "name"));
			if (slice_is(name, text_of(flavor, "name")))
				found = flavor;
		}
	return found;
}

/* Returns the only resource. Else "", and all of them in names. */
static const char *only_resource(const cJSON *flavor, struct buf *names)
{
	const char *name = "";
	size_t n = 0;
	json_each(r, json_array(flavor, "resources")) {
		name = text_of(r, "name");
		buf_printf(names, "%s%s", n++ ? ", " : "", name);
	}
	return n == 1 ? name : "";
}

static int say_no_flavor(const struct reserve_options *o, struct slice flavor,
	const struct buf *names, struct err *e)
{
	char shown[SLICE_SHOWN_SIZE];
	return err_set(e, ERR_INVALID, "ClusterQueue %.100s has no flavor %s; it has: %.300s",
		o->queue, slice_show(flavor, shown), names->len ? buf_text(names) : "none");
}

static int say_which_resource(const struct reserve_options *o, const struct reserve_amount *x,
	const struct buf *names, struct err *e)
{
	int len = (int)x->flavor.len;
	const char *first = buf_text(names);
	if (!*first)
		return err_set(e, ERR_INVALID,
			"flavor %.*s of ClusterQueue %.100s has no resource to reserve; name another flavor",
			len, x->flavor.ptr, o->queue);
	return err_set(e, ERR_INVALID,
		"flavor %.*s of ClusterQueue %.100s has several resources: %.200s. Say which, as in: %.40s %.*s/%.*s",
		len, x->flavor.ptr, o->queue, first, x->amount, len, x->flavor.ptr,
		(int)strcspn(first, ","), first);
}

static int check_whole(const struct reserve_amount *x, const char *resource, struct err *e)
{
	int64_t amount;
	int rc = quantity_parse(slice_of(x->amount), quantity_unit_of(resource), &amount, e);
	if (rc < 0)
		err_wrap(e, "%.40s %.100s", x->amount, resource);
	return rc < 0 ? ERR_INVALID : 0;
}

static int resolve_amount(const struct reserve_options *o, const struct reserve_amount *x,
	const cJSON *clusterqueue, char ret[PLAN_RESOURCE_SIZE], struct err *e)
{
	struct buf names;
	int rc = 0;
	ret[0] = '\0';
	if (!x->amount)
		return 0;
	buf_init(&names, LIST_MAX_BYTES);
	if (x->resource) {
		snprintf(ret, PLAN_RESOURCE_SIZE, "%s", x->resource);
	} else {
		const cJSON *flavor = find_flavor(clusterqueue, x->flavor, &names);
		if (!flavor)
			rc = say_no_flavor(o, x->flavor, &names, e);
		buf_reset(&names);
		snprintf(ret, PLAN_RESOURCE_SIZE, "%s", only_resource(flavor, &names));
		if (rc == 0 && !*ret)
			rc = say_which_resource(o, x, &names, e);
	}
	buf_done(&names);
	return rc == 0 ? check_whole(x, ret, e) : rc;
}

/* ---- when ------------------------------------------------------------------------------------ */

static int read_until(const struct reserve_options *o, struct reserve_plan *p, struct err *e)
{
	const struct moment_basis basis = {.about_ms = p->from.at_ms, .zone = p->from.zone};
	if (o->until) {
		int rc = moment_read(o->until, &basis, &p->until, e);
		if (rc < 0)
			err_wrap(e, "--until");
		return rc;
	}
	if (o->for_ms > ADVANCE_AHEAD_MAX_MS)
		return err_set(e, ERR_INVALID, "--for %.40s is too long; give at most %d days",
			o->lasts, (int)(ADVANCE_AHEAD_MAX_MS / DAY_MS));
	p->until = (struct moment){
		.at_ms = p->from.at_ms + o->for_ms, .zone = zone_copy(p->from.zone)};
	return 0;
}

static int check_order(const struct reserve_plan *p, int64_t now_ms, struct err *e)
{
	char from[MOMENT_TEXT_SIZE], until[MOMENT_TEXT_SIZE];
	moment_write(&p->from, from);
	moment_write(&p->until, until);
	if (p->until.at_ms <= p->from.at_ms)
		return err_set(e, ERR_INVALID,
			"--until is %s, which is not after --from, %s; give a later --until", until,
			from);
	if (p->until.at_ms <= now_ms)
		return err_set(e, ERR_INVALID,
			"it would be over already: it ends at %s; give a later --from or --until",
			until);
	if (p->until.at_ms > now_ms + ADVANCE_AHEAD_MAX_MS)
		return err_set(e, ERR_INVALID,
			"it ends at %s, which is too far ahead: at most %d days from now; end it sooner",
			until, (int)(ADVANCE_AHEAD_MAX_MS / DAY_MS));
	return 0;
}

static int resolve_times(const struct reserve_options *o, int64_t now_ms, const struct zone *own,
	struct reserve_plan *p, struct err *e)
{
	if (o->calendar)
		return 0;
	int rc = moment_read(
		o->from, &(struct moment_basis){.about_ms = now_ms, .zone = own}, &p->from, e);
	if (rc < 0) {
		err_wrap(e, "--from");
		return rc;
	}
	rc = read_until(o, p, e);
	return rc == 0 ? check_order(p, now_ms, e) : rc;
}

/* ---- its name -------------------------------------------------------------------------------- */

/* Derives the name: "team-2026-11-30-0900"; for maintenance without a queue
 * "maintenance-gpu-...". */
static void derive_name(const struct reserve_options *o, struct reserve_plan *p)
{
	char lead[QUEUE_NAME_MAX + 1], when[64];
	struct slice flavor = o->amount[0].flavor;
	if (o->queue)
		snprintf(lead, sizeof(lead), "%s", o->queue);
	else
		snprintf(lead, sizeof(lead), "maintenance-%.*s", (int)flavor.len, flavor.ptr);
	if (o->calendar) {
		snprintf(when, sizeof(when), "%.63s", o->calendar);
	} else {
		char text[MOMENT_TEXT_SIZE]; /* 2026-11-30T09:00:00+01:00 */
		moment_write(&p->from, text);
		snprintf(when, sizeof(when), "%.10s-%.2s%.2s", text, text + 11, text + 14);
	}
	size_t len = strlen(lead); /* a name that is cut short may end as none may */
	while (len > 0 && (lead[len - 1] == '.' || lead[len - 1] == '-'))
		lead[--len] = '\0';
	snprintf(p->name, sizeof(p->name), "%s-%s", lead, when);
}

int reserve_plan_make(const struct reserve_options *o, const cJSON *clusterqueue, int64_t now_ms,
	const struct zone *own, struct reserve_plan *ret, struct err *e)
{
	int rc = 0;
	memset(ret, 0, sizeof(*ret));
	ret->o = o;
	for (size_t i = 0; rc == 0 && i < o->namounts; i++)
		rc = resolve_amount(o, &o->amount[i], clusterqueue, ret->resource[i], e);
	if (rc == 0)
		rc = resolve_times(o, now_ms, own, ret, e);
	if (rc < 0) {
		reserve_plan_done(ret);
		return rc;
	}
	if (o->name)
		snprintf(ret->name, sizeof(ret->name), "%s", o->name);
	else
		derive_name(o, ret);
	return 0;
}

void reserve_plan_done(struct reserve_plan *p)
{
	moment_done(&p->from);
	moment_done(&p->until);
}

/* ---- as an object ---------------------------------------------------------------------------- */

static cJSON *flavor_object(cJSON *flavors, struct slice name)
{
	char text[PLAN_NAME_SIZE];
	for (cJSON *at = flavors->child; at; at = at->next)
		if (slice_is(name, text_of(at, "name")))
			return at;
	snprintf(text, sizeof(text), "%.*s", (int)name.len, name.ptr);
	cJSON *flavor = cJSON_CreateObject();
	cJSON_AddStringToObject(flavor, "name", text);
	cJSON_AddItemToArray(flavors, flavor);
	return flavor;
}

static void add_amounts(const struct reserve_plan *p, cJSON *spec)
{
	cJSON *flavors = cJSON_AddArrayToObject(spec, "flavors");
	for (size_t i = 0; i < p->o->namounts; i++) {
		const struct reserve_amount *x = &p->o->amount[i];
		cJSON *flavor = flavor_object(flavors, x->flavor);
		if (!x->amount)
			continue;
		cJSON *resources = cJSON_GetObjectItemCaseSensitive(flavor, "resources");
		if (!resources)
			resources = cJSON_AddArrayToObject(flavor, "resources");
		cJSON *resource = cJSON_CreateObject();
		cJSON_AddStringToObject(resource, "name", p->resource[i]);
		cJSON_AddStringToObject(resource, "amount", x->amount);
		cJSON_AddItemToArray(resources, resource);
	}
}

static void add_text(cJSON *to, const char *key, const char *text)
{
	if (text)
		cJSON_AddStringToObject(to, key, text);
}

static void add_names(cJSON *to, const char *key, const struct reserve_names *names)
{
	if (names->count == 0)
		return;
	cJSON *list = cJSON_AddArrayToObject(to, key);
	for (size_t i = 0; i < names->count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(names->name[i]));
}

static void add_when(const struct reserve_plan *p, cJSON *spec)
{
	char text[MOMENT_TEXT_SIZE];
	add_text(spec, "calendar", p->o->calendar);
	if (p->o->calendar)
		return;
	add_text(spec, "from", moment_write(&p->from, text));
	add_text(spec, "until", moment_write(&p->until, text));
}

cJSON *reserve_plan_object(const struct reserve_plan *p)
{
	const struct reserve_options *o = p->o;
	cJSON *root = cJSON_CreateObject();
	add_text(root, "apiVersion", "sluice.dev/v1alpha1");
	add_text(root, "kind", "AdvanceReservation");
	add_text(cJSON_AddObjectToObject(root, "metadata"), "name", p->name);
	cJSON *spec = cJSON_AddObjectToObject(root, "spec");
	add_text(spec, "clusterQueue", o->queue);
	add_amounts(p, spec);
	add_when(p, spec);
	if (o->maintenance)
		cJSON_AddTrueToObject(spec, "maintenance");
	if (o->namespaces.count + o->users.count > 0) {
		cJSON *usable = cJSON_AddObjectToObject(spec, "usableBy");
		add_names(usable, "namespaces", &o->namespaces);
		add_names(usable, "users", &o->users);
	}
	add_text(spec, "releaseAfter", o->release_after);
	return root;
}

/* ---- in words -------------------------------------------------------------------------------- */

static void put_amounts(const struct reserve_plan *p, struct buf *out)
{
	for (size_t i = 0; i < p->o->namounts; i++) {
		const struct reserve_amount *x = &p->o->amount[i];
		if (x->amount) {
			buf_printf(out, "  %s ", x->amount);
			text_render(p->resource[i], out);
			buf_printf(out, " of flavor %.*s\n", (int)x->flavor.len, x->flavor.ptr);
		} else {
			buf_printf(out, "  all of flavor %.*s that %s\n", (int)x->flavor.len,
				x->flavor.ptr,
				p->o->queue ? "the ClusterQueue itself has"
					    : "each ClusterQueue and Cohort itself has");
		}
	}
}

/* Appends "2026-11-30 08:00 UTC". */
static void put_utc(int64_t at_ms, struct buf *out)
{
	int64_t at_s = civil_floor(at_ms, 1000);
	struct civil date = civil_of(civil_day_of(at_s));
	int second = civil_second_of(at_s);
	buf_printf(out, "%04d-%02d-%02d %02d:%02d", date.year, date.month, date.day, second / 3600,
		second / 60 % 60);
	if (second % 60)
		buf_printf(out, ":%02d", second % 60);
	buf_puts(out, " UTC");
}

static void put_moment(const char *lead, const struct moment *m, struct buf *out)
{
	char text[ZONE_TEXT_SIZE];
	int64_t at_s = civil_floor(m->at_ms, 1000);
	buf_printf(out, "  %-5s %s", lead, zone_text(m->zone, at_s, text));
	if (strcmp(zone_span_at(m->zone, at_s)->abbreviation, "UTC") != 0) {
		buf_puts(out, "  (");
		put_utc(m->at_ms, out);
		buf_putc(out, ')');
	}
}

static void put_when(const struct reserve_plan *p, struct buf *out)
{
	if (p->o->calendar) {
		buf_printf(out, "  whenever Calendar %s is open\n", p->o->calendar);
		return;
	}
	put_moment("from", &p->from, out);
	buf_putc(out, '\n');
	put_moment("until", &p->until, out);
	buf_printf(out, ", after %s\n", span_short(p->until.at_ms - p->from.at_ms).s);
	const struct moment *both[] = {&p->from, &p->until};
	for (size_t i = 0; i < 2; i++)
		if (*both[i]->note)
			buf_printf(out, "  %s\n", both[i]->note);
}

static void put_names(const struct reserve_names *names, const char *lead, struct buf *out)
{
	for (size_t i = 0; i < names->count; i++) {
		buf_puts(out, i > 0 ? ", " : lead);
		text_render(names->name[i], out);
	}
}

static void put_users(const struct reserve_plan *p, struct buf *out)
{
	const struct reserve_options *o = p->o;
	if (o->maintenance) {
		buf_puts(out, "  for maintenance: no Job may use it\n");
		return;
	}
	buf_puts(out, "  for ");
	if (o->namespaces.count + o->users.count == 0)
		buf_puts(out, "all Jobs of the ClusterQueue");
	else
		buf_puts(out, "Jobs");
	put_names(&o->namespaces, o->namespaces.count > 1 ? " of namespaces " : " of namespace ",
		out);
	put_names(&o->users, " that were submitted by ", out);
	buf_putc(out, '\n');
	if (o->release_after)
		buf_printf(out, "  what no Job has used for %s is given back\n", o->release_after);
}

void reserve_plan_render(const struct reserve_plan *p, struct buf *out)
{
	buf_printf(out, "AdvanceReservation %s, %s%s\n", p->name,
		p->o->queue ? "in ClusterQueue " : "in all ClusterQueues",
		p->o->queue ? p->o->queue : "");
	put_amounts(p, out);
	put_when(p, out);
	put_users(p, out);
}
