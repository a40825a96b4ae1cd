/*
 * An AdvanceReservation: what its admin asks for, and what its status says: was it accepted, and
 * what was given back. The status is our own word, so what cannot be read of it is no fault: it
 * counts as not said.
 */
#include <string.h>

#include "base/map.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"
#include "sluice/quantity.h"

#define LEFT_MAX 256 /* rows in the status, as the status writer bounds them */

/* ---- what is reserved ------------------------------------------------------------------------ */

static size_t count_amounts(const cJSON *flavors)
{
	size_t n = 0;
	json_each(flavor, flavors) {
		const cJSON *list = json_array(flavor, "resources");
		if (!list)
			n++; /* all of the flavor */
		json_each(item, list)
			n++;
	}
	return n;
}

static struct advance_amount amount_item(
	struct decoder *d, const struct path *at, const char *flavor, const cJSON *item)
{
	struct advance_amount a = {.flavor = flavor};
	const cJSON *amount = json_get(item, "amount");
	a.resource = needed_text(d, at, item, "name", "nvidia.com/gpu");
	if (!amount) {
		decoder_fault(d, PATH(at, "amount"), "is missing; write e.g. 64 or 256Gi");
		return a;
	}
	a.amount = quantity_value(d, PATH(at, "amount"), amount, a.resource);
	if (a.amount == 0)
		decoder_fault(d, PATH(at, "amount"),
			"must be more than 0; leave the resource out to reserve none of it");
	return a;
}

/* Whether two amounts are of one thing. A flavor of which all is reserved has every resource. */
static bool overlap(const struct advance_amount *a, const struct advance_amount *b)
{
	return strcmp(a->flavor, b->flavor) == 0 &&
	       (!*a->resource || !*b->resource || strcmp(a->resource, b->resource) == 0);
}

static void check_amount_twice(
	struct decoder *d, const struct path *at, const struct advance_amount *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (overlap(&all[i], &all[n])) {
			decoder_fault(d, at, "is reserved twice; write one amount of it");
			return;
		}
}

/* Reads the amounts of one flavor, behind *n others. */
static void flavor_item(struct decoder *d, const struct path *at, const cJSON *item,
	struct advance_amount *all, size_t *n)
{
	size_t count, i = 0;
	const char *flavor = needed_text(d, at, item, "name", "gpu");
	const cJSON *list = objects_field(d, at, item, "resources", ADVANCE_AMOUNTS_MAX, &count);
	if (!json_array(item, "resources")) {
		all[*n] = (struct advance_amount){.flavor = flavor, .resource = ""};
		check_amount_twice(d, at, all, (*n)++);
		return;
	}
	if (count == 0)
		decoder_fault(d, PATH(at, "resources"),
			"names nothing; leave it out to reserve all of the flavor");
	json_each(resource, list) {
		const struct path *place = PATH_INDEX(PATH(at, "resources"), i++);
		all[*n] = amount_item(d, place, flavor, resource);
		check_amount_twice(d, place, all, (*n)++);
	}
}

static void flavors_field(struct decoder *d, const struct path *up, const cJSON *spec,
	struct advance_reservation_spec *s)
{
	size_t count, i = 0, n = 0;
	const struct path *at = PATH(up, "flavors");
	const cJSON *list = objects_field(d, up, spec, "flavors", ADVANCE_AMOUNTS_MAX, &count);
	size_t amounts = count_amounts(list);
	if (amounts > ADVANCE_AMOUNTS_MAX) {
		decoder_fault(d, at, "has %zu amounts; at most %d are supported", amounts,
			ADVANCE_AMOUNTS_MAX);
		return;
	}
	if (count == 0)
		decoder_fault(d, at,
			"reserves nothing; write a flavor, e.g. [{name: gpu}] for all of it");
	struct advance_amount *all = parcel_array(&d->parcel, amounts, sizeof(*all));
	json_each(item, list)
		flavor_item(d, PATH_INDEX(at, i++), item, all, &n);
	s->amount = all;
	s->namounts = n;
}

/* ---- when, and for whom ---------------------------------------------------------------------- */

static int64_t time_field(
	struct decoder *d, const struct path *up, const cJSON *spec, const char *key)
{
	int64_t ms = 0;
	char shown[SHOWN_SIZE];
	const char *text = text_field(d, up, spec, key, NAME_MAX_BYTES);
	if (json_get(spec, key) && !text_time(text, &ms))
		decoder_fault(d, PATH(up, key),
			"%s is not a time; write it with an offset or Z, e.g. \"2026-11-30T09:00:00+01:00\"",
			text_show(text, shown));
	return ms;
}

static void when_field(struct decoder *d, const struct path *up, const cJSON *spec,
	struct advance_reservation_spec *s)
{
	bool from = json_get(spec, "from"), until = json_get(spec, "until");
	bool timed = from && until;
	s->from_ms = time_field(d, up, spec, "from");
	s->until_ms = time_field(d, up, spec, "until");
	if (*s->calendar ? from || until : !timed)
		decoder_fault(d, up,
			"must say when: write from and until, or calendar, the name of a Calendar, and not both");
	else if (timed && s->until_ms <= s->from_ms)
		decoder_fault(d, PATH(up, "until"), "must be later than from");
}

static void usable_by_field(struct decoder *d, const struct path *up, const cJSON *spec,
	struct advance_reservation_spec *s)
{
	const struct path *at = PATH(up, "usableBy");
	const cJSON *o = object_field(d, up, spec, "usableBy");
	s->namespaces = texts_field(d, at, o, "namespaces", ADVANCE_NAMES_MAX, false,
		"must be the name of a namespace, e.g. team-a", &s->nnamespaces);
	s->users = texts_field(d, at, o, "users", ADVANCE_NAMES_MAX, false,
		"must be the name of a user, e.g. anna@example.com", &s->nusers);
	if (o && s->nnamespaces + s->nusers == 0)
		decoder_fault(d, at, "names nobody; write namespaces or users, or remove it");
	if (o && s->maintenance)
		decoder_fault(d, at,
			"is of no use with maintenance, which is for no Job; remove one of them");
}

static void check_release(
	struct decoder *d, const struct path *at, const struct advance_reservation_spec *s)
{
	if (s->release_after_ms > 0 && s->maintenance)
		decoder_fault(d, PATH(at, "releaseAfter"),
			"would give all of it back, for maintenance is used by no Job; remove one of them");
}

static void check_queue(
	struct decoder *d, const struct path *at, const struct advance_reservation_spec *s)
{
	if (*s->clusterqueue)
		return;
	if (!s->maintenance)
		decoder_fault(d, PATH(at, "clusterQueue"),
			"is missing; write e.g. batch. Only maintenance can be of all ClusterQueues");
	for (size_t i = 0; i < s->namounts; i++)
		if (*s->amount[i].resource) {
			decoder_fault(d, PATH(at, "flavors"),
				"names resources, but maintenance of all ClusterQueues is of whole flavors; remove them, or name a clusterQueue");
			return;
		}
}

/* ---- what its status says -------------------------------------------------------------------- */

/*
 * Whether the object was accepted, at this generation or an older one. What is reserved cannot be
 * edited. An edit of the rest must not cost the acceptance when the leader dies before it has
 * written the new generation.
 */
static bool was_accepted(const cJSON *o, int64_t generation)
{
	const cJSON *condition = json_condition(o, "Accepted");
	int64_t observed = 0;
	json_i64(condition, "observedGeneration", &observed);
	return json_is(condition, "status", "True") && observed <= generation;
}

static bool left_item(
	struct decoder *d, const char *flavor, const cJSON *item, struct advance_amount *ret)
{
	const char *resource = json_text(item, "name"), *left = json_text(item, "left");
	int64_t amount;
	if (!flavor || !resource || !left ||
		quantity_parse(slice_of(left), quantity_unit_of(resource), &amount, NULL) < 0 ||
		amount < 0)
		return false;
	*ret = (struct advance_amount){text_quote(d, flavor, NAME_MAX_BYTES),
		text_quote(d, resource, NAME_MAX_BYTES), amount};
	return true;
}

/* Reads all of what is left, or nothing: what is missing in a part would count as given back. */
static void left_field(struct decoder *d, const cJSON *status, struct advance_reservation_spec *s)
{
	const char *from = json_text(status, "leftFrom");
	const cJSON *flavors = json_array(status, "flavors");
	size_t count = count_amounts(flavors), n = 0;
	int64_t from_ms;
	if (!from || !text_time(from, &from_ms) || count > LEFT_MAX)
		return;
	struct advance_amount *all = parcel_array(&d->parcel, count, sizeof(*all));
	json_each(flavor, flavors) {
		json_each(item, json_array(flavor, "resources"))
			if (!left_item(d, json_text(flavor, "name"), item, &all[n++]))
				return;
	}
	s->left_from_ms = from_ms;
	s->left = all;
	s->nleft = n;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Reads the uid, by which bookings are told apart. An object of a file has none, and gets one made
 * of its name. */
static void uid_field(const cJSON *o, struct advance_reservation_spec *s)
{
	uint64_t half[2] = {map_hash_string(decode_name(o)), 0};
	if (decode_uid(o, &s->uid))
		return;
	half[1] = ~half[0];
	memcpy(s->uid.byte, half, sizeof(s->uid.byte));
}

static void metadata_fields(struct decoder *d, const cJSON *o, struct advance_reservation_spec *s)
{
	const char *created = json_text(meta_of(o), "creationTimestamp");
	meta_fields(d, o, s);
	uid_field(o, s);
	s->created_ms = created ? 0 : INT64_MAX; /* not created yet: judged last */
	if (created && !text_time(created, &s->created_ms))
		decoder_fault(d, PATH(PATH(NULL, "metadata"), "creationTimestamp"),
			"is not a time; leave it to the API server");
}

static int fill_advance_reservation(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec");
	struct advance_reservation_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const cJSON *spec = object_field(d, NULL, o, "spec"), *status = json_object(o, "status");
	metadata_fields(d, o, s);
	advance_reservation_spec_fields(d, at, spec, s);
	flavors_field(d, at, spec, s);
	when_field(d, at, spec, s);
	usable_by_field(d, at, spec, s);
	check_release(d, at, s);
	check_queue(d, at, s);
	s->accepted = was_accepted(o, s->generation);
	if (s->accepted)
		left_field(d, status, s);
	return decoder_verdict(d, "AdvanceReservation", o, e);
}

DECODER(decode_advance_reservation, advance_reservation_spec, "AdvanceReservation", 1024,
	fill_advance_reservation)
