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

/* What the API server takes in such a place; it judges the rest. */
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

/* Which resource it is of may not be known yet: then plan.c judges whether it can be so large. */
static int check_amount(const char *text, struct err *e)
{
	int64_t amount;
	if (quantity_parse(slice_of(text), QUANTITY_WHOLE, &amount, NULL) == 0 && amount > 0)
		return 0;
	return err_set(e, ERR_INVALID,
		"\"%.40s\" is not an amount to reserve; write a quantity above 0 and then its flavor, as in: 64 gpu",
		text);
}

static int take_word(const char *text, void *options, struct err *e)
{
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

static int take_all_of(const char *text, void *options, struct err *e)
{
	int rc = flag_check_name("--all-of", text, e);
	if (rc < 0)
		return rc;
	return add_amount(options, (struct reserve_amount){NULL, slice_of(text), NULL}, e);
}

/* ---- other flags ----------------------------------------------------------------------------- */

static int take_queue(const char *text, void *options, struct err *e)
{
	((struct reserve_options *)options)->queue = text;
	return flag_check_name("--queue", text, e);
}

static int take_calendar(const char *text, void *options, struct err *e)
{
	((struct reserve_options *)options)->calendar = text;
	return flag_check_name("--calendar", text, e);
}

static int take_name(const char *text, void *options, struct err *e)
{
	((struct reserve_options *)options)->name = text;
	return flag_check_name("--name", text, e);
}

static int take_for(const char *text, void *options, struct err *e)
{
	struct reserve_options *o = options;
	o->lasts = text;
	if (span_parse_long(text, &o->for_ms) && o->for_ms >= 1000)
		return 0;
	return err_set(e, ERR_INVALID,
		"--for is \"%.40s\"; it must be a time of a second or more, such as 8h, 90m or 2d",
		text);
}

static int take_release_after(const char *text, void *options, struct err *e)
{
	int64_t ms;
	((struct reserve_options *)options)->release_after = text;
	if (span_parse(text, &ms) && ms >= 1000 && ms <= ADVANCE_RELEASE_MAX_MS &&
		strspn(text, "0123456789hms") == strlen(text))
		return 0;
	return err_set(e, ERR_INVALID,
		"--release-after is \"%.40s\"; it must be a time from 1s to 744h, such as 30m or 1h30m",
		text);
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

static int take_usable_by(const char *text, void *options, struct err *e)
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
	return err_set(e, ERR_INVALID,
		"--usable-by is \"%.60s\"; write namespace/NAME or user/NAME, as kubectl auth whoami names users",
		text);
}

static int take_dry_run(const char *text, void *options, struct err *e)
{
	((struct reserve_options *)options)->dry_run = true;
	if (strcmp(text, "client") == 0)
		return 0;
	return err_set(e, ERR_INVALID,
		"--dry-run is \"%.40s\"; only client is known: the object is printed, and not created",
		text);
}

static int take_output(const char *text, void *options, struct err *e)
{
	(void)e; /* the walk has checked it */
	((struct reserve_options *)options)->output =
		strcmp(text, "yaml") == 0 ? RESERVE_YAML : RESERVE_JSON;
	return 0;
}

static const struct flag flags[] = {
	{FLAG_TAKE("all-of", 0, take_all_of), .value = "FLAVOR"},
	{FLAG_TAKE("queue", 'q', take_queue), .value = "CLUSTERQUEUE"},
	{FLAG_TEXT("from", struct reserve_options, from)},
	{FLAG_TEXT("until", struct reserve_options, until)},
	{FLAG_TAKE("for", 0, take_for)},
	{FLAG_TAKE("calendar", 0, take_calendar), .value = "CALENDAR"},
	{FLAG_GIVEN("maintenance", 0, struct reserve_options, maintenance)},
	{FLAG_TAKE("usable-by", 0, take_usable_by)},
	{FLAG_TAKE("release-after", 0, take_release_after)},
	{FLAG_TAKE("name", 0, take_name)},
	{FLAG_TAKE("dry-run", 0, take_dry_run), .value = "client"},
	{FLAG_TAKE("output", 'o', take_output), .value = "yaml|json"},
	{FLAG_GIVEN("yes", 'y', struct reserve_options, yes)},
	{FLAG_GIVEN("all", 'a', struct reserve_options, all)},
	{FLAG_KUBECONFIG(struct reserve_options, kube)},
	{FLAG_CONTEXT(struct reserve_options, kube)},
	{FLAG_GIVEN("help", 'h', struct reserve_options, help)},
};

const struct flag_table reserve_flags = {
	.flag = flags, .count = sizeof(flags) / sizeof(*flags), .take_word = take_word};

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

int reserve_options_parse(int argc, char **argv, struct reserve_options *ret, struct err *e)
{
	struct reserve_options o = {.queue = NULL};
	int rc = flags_walk(argc, argv, 1, &reserve_flags, &o, e);
	if (rc == 0 && !o.help)
		rc = check_amounts(&o, e);
	if (rc == 0 && !o.help)
		rc = check_times(&o, e);
	if (rc == 0 && !o.help)
		rc = check_rest(&o, e);
	if (rc < 0)
		return ERR_INVALID;
	*ret = o;
	return 0;
}
