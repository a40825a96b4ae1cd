#include "cli/reserve/options.h"

#include <ctype.h>
#include <string.h>

#include "base/span.h"
#include "sluice/quantity.h"

#define EXAMPLE "sluice reserve 64 gpu --queue team --from \"Mon 09:00 Europe/Berlin\" --for 8h"

/* ---- what is reserved ------------------------------------------------------------------------ */

static bool is_same(struct slice a, struct slice b)
{
	return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static bool overlap(const struct reserve_amount *a, const struct reserve_amount *b)
{
	if (!is_same(a->flavor, b->flavor))
		return false;
	return !a->amount || !b->amount || !a->resource || !b->resource ||
	       strcmp(a->resource, b->resource) == 0;
}

/* True for what the API server takes in such a place; it judges the rest. */
static bool is_plain(struct slice s, const char *more)
{
	size_t i = 0;
	while (i < s.len && (isalnum((unsigned char)s.ptr[i]) || strchr(more, s.ptr[i])))
		i++;
	return s.len > 0 && i == s.len;
}

static int add_amount(struct reserve_options *o, struct reserve_amount x, struct err *e)
{
	char shown[SLICE_SHOWN_SIZE];
	if (!is_plain(x.flavor, "-.") || (x.resource && !is_plain(slice_of(x.resource), "-._/")))
		return err_set(e, ERR_INVALID,
			"behind %.40s there is no flavor: write AMOUNT FLAVOR or AMOUNT FLAVOR/RESOURCE, as in: 64 gpu/nvidia.com/gpu",
			x.amount ? x.amount : "--all-of");
	for (size_t i = 0; i < o->namounts; i++)
		if (overlap(&o->amount[i], &x))
			return err_set(e, ERR_INVALID, "flavor %s is given twice; %s",
				slice_show(x.flavor, shown),
				x.amount && o->amount[i].amount
					? "name another resource each time, as in: 64 gpu/nvidia.com/gpu 512Gi gpu/memory"
					: "--all-of has all resources of it");
	if (o->namounts == ADVANCE_AMOUNTS_MAX)
		return err_set(e, ERR_INVALID, "more than %d amounts; make two reservations",
			ADVANCE_AMOUNTS_MAX);
	o->amount[o->namounts++] = x;
	return 0;
}

/* Checks an amount. Its resource may not be known yet: then plan.c judges whether it can be so
 * large. */
static int check_amount(const char *text, struct err *e)
{
	int64_t amount;
	if (quantity_parse(slice_of(text), QUANTITY_WHOLE, &amount, NULL) == 0 && amount > 0)
		return 0;
	return err_set(e, ERR_INVALID,
		"\"%.40s\" is not an amount to reserve; write a quantity above 0 and then its flavor, as in: 64 gpu",
		text);
}

static int take_word(const struct flag *f, const char *text, void *options, struct err *e)
{
	(void)f;
	struct reserve_options *o = options;
	if (!o->open_amount) {
		o->open_amount = text;
		return check_amount(text, e);
	}
	size_t len = strcspn(text, "/");
	const struct reserve_amount x = {
		o->open_amount, {text, len}, text[len] ? text + len + 1 : NULL};
	o->open_amount = NULL;
	return add_amount(o, x, e);
}

static int take_all_of(const struct flag *f, const char *text, void *options, struct err *e)
{
	(void)f;
	int rc = flag_check_name("--all-of", text, e);
	if (rc < 0)
		return rc;
	return add_amount(options, (struct reserve_amount){NULL, slice_of(text), NULL}, e);
}

/* ---- other flags ----------------------------------------------------------------------------- */

static int take_for(const struct flag *f, const char *text, void *options, struct err *e)
{
	struct reserve_options *o = options;
	o->lasts = text;
	return flag_amount(f, text, &o->for_ms, e);
}

static int take_release_after(const struct flag *f, const char *text, void *to, struct err *e)
{
	int64_t ms;
	*(const char **)to = text;
	if (span_parse(text, &ms) && ms >= 1000 && ms <= ADVANCE_RELEASE_MAX_MS &&
		strspn(text, "0123456789hms") == strlen(text))
		return 0;
	return flag_refuse(f, text, e);
}

static int add_name(struct reserve_names *to, const char *name, struct err *e)
{
	if (to->count == ADVANCE_NAMES_MAX)
		return err_set(e, ERR_INVALID,
			"--usable-by names more than %d namespaces, or more than %d users; leave it out for all Jobs of the ClusterQueue",
			ADVANCE_NAMES_MAX, ADVANCE_NAMES_MAX);
	to->name[to->count++] = name;
	return 0;
}

static int take_usable_by(const struct flag *f, const char *text, void *options, struct err *e)
{
	static const char ns[] = "namespace/", user[] = "user/";
	struct reserve_options *o = options;
	if (strncmp(text, ns, sizeof(ns) - 1) == 0) {
		const char *name = text + sizeof(ns) - 1;
		int rc = flag_check_namespace("--usable-by", name, e);
		return rc < 0 ? rc : add_name(&o->namespaces, name, e);
	}
	if (strncmp(text, user, sizeof(user) - 1) == 0 && text[sizeof(user) - 1])
		return add_name(&o->users, text + sizeof(user) - 1, e);
	return flag_refuse(f, text, e);
}

static int take_dry_run(const struct flag *f, const char *text, void *to, struct err *e)
{
	*(bool *)to = strcmp(text, "client") == 0;
	return *(bool *)to ? 0 : flag_refuse(f, text, e);
}

static int take_output(const struct flag *f, const char *text, void *options, struct err *e)
{
	(void)e;
	((struct reserve_options *)options)->output =
		flag_choice(f->value, text) == 0 ? RESERVE_YAML : RESERVE_JSON;
	return 0;
}

#define OPTIONS struct reserve_options

static const struct flag rows[] = {
	{FLAG_TAKE("all-of", 0, take_all_of), .value = "FLAVOR"},
	{FLAG_NAME("queue", 'q', OPTIONS, queue, "CLUSTERQUEUE")},
	{FLAG_TEXT("from", OPTIONS, from)},
	{FLAG_TEXT("until", OPTIONS, until)},
	{FLAG_TAKE("for", 0, take_for), .read = span_parse_long, .least = 1000,
		.must_be = "a time of a second or more, such as 8h, 90m or 2d"},
	{FLAG_NAME("calendar", 0, OPTIONS, calendar, "CALENDAR")},
	{FLAG_GIVEN("maintenance", 0, OPTIONS, maintenance)},
	{FLAG_TAKE("usable-by", 0, take_usable_by),
		.must_be = "namespace/NAME or user/NAME, as kubectl auth whoami names users"},
	{FLAG_TAKE_TO("release-after", take_release_after, const char *, OPTIONS, release_after),
		.must_be = "a time from 1s to 744h, such as 30m or 1h30m"},
	{FLAG_NAME("name", 0, OPTIONS, name, NULL)},
	{FLAG_TAKE_TO("dry-run", take_dry_run, bool, OPTIONS, dry_run), .value = "client",
		.must_be = "client: the object is printed, and not created"},
	{FLAG_TAKE("output", 'o', take_output), .value = "yaml|json"},
	{FLAG_GIVEN("yes", 'y', OPTIONS, yes)},
	{FLAG_GIVEN("all", 'a', OPTIONS, all)},
	FLAGS_KUBE(OPTIONS, kube),
};

/* ---- which go together ----------------------------------------------------------------------- */

static int check_amounts(const struct reserve_options *o, struct err *e)
{
	if (o->open_amount)
		return err_set(e, ERR_INVALID,
			"of which flavor is %.40s? Write it behind, as in: %.40s gpu",
			o->open_amount, o->open_amount);
	if (o->namounts == 0)
		return err_set(e, ERR_INVALID, "it wants what to reserve, as in: " EXAMPLE);
	if (!o->queue && !o->maintenance)
		return err_set(e, ERR_INVALID,
			"it wants --queue CLUSTERQUEUE, whose quota is reserved; only --maintenance may do without");
	for (size_t i = 0; !o->queue && i < o->namounts; i++)
		if (o->amount[i].amount)
			return err_set(e, ERR_INVALID,
				"without --queue only whole flavors can be reserved: write --all-of %.*s in place of %.40s %.*s",
				(int)o->amount[i].flavor.len, o->amount[i].flavor.ptr,
				o->amount[i].amount, (int)o->amount[i].flavor.len,
				o->amount[i].flavor.ptr);
	return 0;
}

static int check_times(const struct reserve_options *o, struct err *e)
{
	if (o->calendar && (o->from || o->until || o->lasts))
		return err_set(e, ERR_INVALID,
			"--calendar says when, so --from, --until and --for have no place beside it");
	if (o->calendar)
		return 0;
	if (!o->from)
		return err_set(e, ERR_INVALID,
			"it wants --from TIME, or --calendar NAME, as in: " EXAMPLE);
	if (!o->until == !o->lasts)
		return err_set(e, ERR_INVALID, "it wants either --until TIME or --for DURATION");
	return 0;
}

static int check_rest(const struct reserve_options *o, struct err *e)
{
	if (o->maintenance && o->namespaces.count + o->users.count > 0)
		return err_set(e, ERR_INVALID,
			"nobody's Jobs use what --maintenance reserves, so --usable-by has no place beside it");
	if (o->maintenance && o->release_after)
		return err_set(e, ERR_INVALID,
			"nobody's Jobs use what --maintenance reserves, so --release-after would give all of it back");
	if (o->output != RESERVE_TEXT && !o->dry_run)
		return err_set(e, ERR_INVALID,
			"-o prints the object in place of creating it: give --dry-run=client too");
	return 0;
}

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	(void)word;
	(void)nwords; /* take_word() has had them */
	int rc = check_amounts(options, e);
	if (rc == 0)
		rc = check_times(options, e);
	return rc == 0 ? check_rest(options, e) : rc;
}

const struct flag_table reserve_flags = {
	FLAG_TABLE(rows, struct reserve_options), .take_word = take_word, .finish = finish};
