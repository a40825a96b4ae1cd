#include "cli/live_object.h"

#include <strings.h>

#include "controller/common/path.h"

/* The kinds of api/crds/; test/unit/cli/whatif_test.c compares. */
static const struct live_kind kinds[] = {
	{"ClusterQueue", "clusterqueue", "clusterqueues", {"cq"}, false},
	{"LocalQueue", "localqueue", "localqueues", {"lq", "queue", "queues"}, true},
	{"Cohort", "cohort", "cohorts", {NULL}, false},
	{"ResourceFlavor", "resourceflavor", "resourceflavors", {"rf", "flavor", "flavors"}, false},
	{"Calendar", "calendar", "calendars", {NULL}, false},
	{"RunPolicy", "runpolicy", "runpolicies", {NULL}, false},
	{"PricePlan", "priceplan", "priceplans", {NULL}, false},
	{"Budget", "budget", "budgets", {NULL}, false},
	{"AdvanceReservation", "advancereservation", "advancereservations", {"ar"}, false},
	{"WorkloadPriorityClass", "workloadpriorityclass", "workloadpriorityclasses", {"wpc"},
		false},
};

enum { SHORTS = sizeof(kinds[0].shorts) / sizeof(kinds[0].shorts[0]) };

const struct live_kind *live_kind_at(size_t i)
{
	return i < sizeof(kinds) / sizeof(*kinds) ? &kinds[i] : NULL;
}

static bool is_same(struct slice name, const char *other)
{
	return other && strlen(other) == name.len && strncasecmp(name.ptr, other, name.len) == 0;
}

static bool is_called(const struct live_kind *k, struct slice name)
{
	for (size_t i = 0; i < SHORTS; i++)
		if (is_same(name, k->shorts[i]))
			return true;
	return is_same(name, k->singular) || is_same(name, k->plural);
}

const struct live_kind *live_kind_by_name(struct slice name)
{
	static const char group[] = ".sluice.dev";
	if (slice_ends(name, group))
		name.len -= sizeof(group) - 1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (is_called(&kinds[i], name))
			return &kinds[i];
	return NULL;
}

static void put_path(const struct live_kind *k, const char *ns, const char *name, struct buf *path)
{
	if (k->namespaced)
		path_format(path, SLUICE_ROOT "/namespaces/%s/%s/%s", ns, k->plural, name);
	else
		path_format(path, SLUICE_ROOT "/%s/%s", k->plural, name);
}

static int say_absent(const struct live_kind *k, const char *ns, const char *name, struct err *e)
{
	if (k->namespaced)
		return err_set(e, ERR_GONE,
			"there is no %s %.200s in namespace %.63s; kubectl get %s.sluice.dev -n %.63s lists those that there are",
			k->kind, name, ns, k->plural, ns);
	return err_set(e, ERR_GONE,
		"there is no %s %.200s; kubectl get %s.sluice.dev lists those that there are",
		k->kind, name, k->plural);
}

int live_object_get(struct ev_loop *loop, struct kube_client *client, const struct live_kind *k,
	const char *ns, const char *name, struct json *json, const cJSON **ret, struct err *e)
{
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	put_path(k, ns, name, &path);
	int rc = question_ask(loop, client, buf_text(&path), json, ret, e);
	buf_done(&path);
	if (rc == ERR_GONE)
		return say_absent(k, ns, name, e);
	if (rc == ERR_DENIED)
		err_wrap(e, "you may not read %s %.200s", k->kind, name);
	return rc;
}
