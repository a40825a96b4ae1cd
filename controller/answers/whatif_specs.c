#include "controller/answers/whatif_specs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/json.h"
#include "controller/watch/time_specs.h"
#include "controller/wire/decode.h"
#include "controller/wire/tell.h"
#include "sluice/queue.h"

#define API_VERSION "sluice.dev/v1alpha1"

enum { TREE_MAX_BYTES = 4 << 20, NAME_SIZE = 254, NAMESPACE_SIZE = 64 };

/* ---- the kinds --------------------------------------------------------------------------------- */

/* Looks for an object of that name by its view, of which the walk ends at the last. */
#define IS_THERE(kind)                                                                             \
	static bool kind##_is_there(const struct queue *q, const char *ns, const char *name)       \
	{                                                                                          \
		struct kind##_view v;                                                              \
		(void)ns;                                                                          \
		for (size_t i = 0; queue_view_##kind(q, i, &v); i++)                               \
			if (strcmp(v.name, name) == 0)                                             \
				return true;                                                       \
		return false;                                                                      \
	}

IS_THERE(clusterqueue)
IS_THERE(cohort)
IS_THERE(calendar)
IS_THERE(runpolicy)
IS_THERE(priceplan)
IS_THERE(budget)
IS_THERE(advance_reservation)

static bool localqueue_is_there(const struct queue *q, const char *ns, const char *name)
{
	struct localqueue_view v;
	for (size_t i = 0; queue_view_localqueue(q, i, &v); i++)
		if (strcmp(v.ns, ns) == 0 && strcmp(v.name, name) == 0)
			return true;
	return false;
}

static bool flavor_is_there(const struct queue *q, const char *ns, const char *name)
{
	(void)ns;
	return queue_has_flavor(q, name);
}

static bool class_is_there(const struct queue *q, const char *ns, const char *name)
{
	(void)ns;
	return queue_has_priority(q, PRIORITY_WORKLOAD, name);
}

static void drop_class(struct queue *q, const char *name)
{
	queue_drop_priority(q, PRIORITY_WORKLOAD, name);
}

static const struct whatif_kind {
	const char *name;
	bool (*is_there)(const struct queue *q, const char *ns, const char *name);
	tell_queue *tell; /* NULL: a time spec */
	enum time_specs_kind time_spec;
	void (*drop)(struct queue *q, const char *name);
	/* For a kind with a namespace. */
	void (*drop_in)(struct queue *q, const char *ns, const char *name);
} kinds[] = {
	{"ClusterQueue", clusterqueue_is_there, tell_clusterqueue, 0, queue_drop_clusterqueue,
		NULL},
	{"Cohort", cohort_is_there, tell_cohort, 0, queue_drop_cohort, NULL},
	{"LocalQueue", localqueue_is_there, tell_localqueue, 0, NULL, queue_drop_localqueue},
	{"ResourceFlavor", flavor_is_there, tell_flavor, 0, queue_drop_flavor, NULL},
	{"WorkloadPriorityClass", class_is_there, tell_workload_priority, 0, drop_class, NULL},
	{"RunPolicy", runpolicy_is_there, tell_runpolicy, 0, queue_drop_runpolicy, NULL},
	{"Calendar", calendar_is_there, NULL, TIME_SPECS_CALENDAR, NULL, NULL},
	{"PricePlan", priceplan_is_there, NULL, TIME_SPECS_PRICEPLAN, NULL, NULL},
	{"Budget", budget_is_there, NULL, TIME_SPECS_BUDGET, NULL, NULL},
	{"AdvanceReservation", advance_reservation_is_there, tell_advance_reservation, 0,
		queue_drop_advance_reservation, NULL},
};

#define KINDS_TEXT                                                                                 \
	"ClusterQueue, Cohort, LocalQueue, ResourceFlavor, WorkloadPriorityClass, RunPolicy, "     \
	"Calendar, PricePlan, Budget or AdvanceReservation"

static const struct whatif_kind *kind_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].name) == len && memcmp(kinds[i].name, name, len) == 0)
			return &kinds[i];
	return NULL;
}

/* ---- adding ------------------------------------------------------------------------------------ */

struct whatif_item {
	const struct whatif_kind *kind;
	char *json; /* NULL: the object is to be gone */
	char ns[NAMESPACE_SIZE], name[NAME_SIZE];
};

struct whatif_specs {
	struct json *json;
	struct whatif_item item[WHATIF_ITEMS_MAX];
	size_t n, bytes;
};

struct whatif_specs *whatif_specs_new(void)
{
	struct whatif_specs *s = mem_alloc(sizeof(*s));
	s->json = json_new(TREE_MAX_BYTES);
	return s;
}

void whatif_specs_free(struct whatif_specs *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->item[i].json);
	json_free(s->json);
	free(s);
}

size_t whatif_specs_count(const struct whatif_specs *s)
{
	return s->n;
}

bool whatif_specs_has(const struct whatif_specs *s, const char *kind, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->item[i].json && strcmp(s->item[i].kind->name, kind) == 0 &&
			strcmp(s->item[i].name, name) == 0)
			return true;
	return false;
}

static int make_room(struct whatif_specs *s, const char *text, struct err *e)
{
	s->bytes += strlen(text);
	if (s->n == WHATIF_ITEMS_MAX)
		return err_set(e, ERR_LIMIT, "at most %d objects can be changed in one question",
			WHATIF_ITEMS_MAX);
	if (s->bytes > WHATIF_BYTES_MAX)
		return err_set(e, ERR_LIMIT,
			"these objects are larger than %d KiB together: ask for fewer at a time",
			WHATIF_BYTES_MAX >> 10);
	return 0;
}

static bool take_name(const char *text, size_t len, char *ret, size_t size)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
	if (len == 0 || len >= size || strspn(text, allowed) < len)
		return false;
	memcpy(ret, text, len);
	ret[len] = '\0';
	return true;
}

static int read_object(
	struct whatif_specs *s, const char *json, struct whatif_item *x, struct err *e)
{
	const cJSON *o;
	int rc = json_parse(s->json, slice_of(json), &o, e);
	if (rc) {
		err_wrap(e, "object %zu is no JSON", s->n + 1);
		return ERR_INVALID;
	}
	const char *version = json_text(o, "apiVersion"), *kind = json_text(o, "kind");
	const char *name = decode_name(o), *ns = decode_namespace_of(o);
	x->kind = kind ? kind_of(kind, strlen(kind)) : NULL;
	if (!x->kind || !version || strcmp(version, API_VERSION) != 0)
		return err_set(e, ERR_INVALID,
			"object %zu has apiVersion %.80s and kind %.80s; it must be " API_VERSION
			" and one of " KINDS_TEXT,
			s->n + 1, version ? version : "(none)", kind ? kind : "(none)");
	if (!take_name(name, strlen(name), x->name, sizeof(x->name)))
		return err_set(e, ERR_INVALID, "object %zu, a %s, has no metadata.name", s->n + 1,
			x->kind->name);
	if (x->kind->drop_in && !take_name(ns, strlen(ns), x->ns, sizeof(x->ns)))
		return err_set(e, ERR_INVALID, "LocalQueue %s has no metadata.namespace", x->name);
	return 0;
}

int whatif_specs_add(struct whatif_specs *s, const char *json, struct err *e)
{
	struct whatif_item x = {0};
	int rc = make_room(s, json, e);
	if (rc == 0)
		rc = read_object(s, json, &x, e);
	json_reset(s->json);
	if (rc)
		return rc;
	x.json = mem_strdup(json);
	s->item[s->n++] = x;
	return 0;
}

/* Reads KIND/NAME or KIND/NAMESPACE/NAME. */
static bool read_drop(const char *text, struct whatif_item *x)
{
	size_t len = strcspn(text, "/");
	x->kind = kind_of(text, len);
	if (!x->kind || !text[len])
		return false;
	text += len + 1;
	len = strcspn(text, "/");
	if (!x->kind->drop_in)
		return !text[len] && take_name(text, len, x->name, sizeof(x->name));
	return text[len] && take_name(text, len, x->ns, sizeof(x->ns)) &&
	       take_name(text + len + 1, strlen(text + len + 1), x->name, sizeof(x->name));
}

int whatif_specs_add_drop(struct whatif_specs *s, const char *text, struct err *e)
{
	struct whatif_item x = {0};
	int rc = make_room(s, text, e);
	if (rc)
		return rc;
	if (!read_drop(text, &x))
		return err_set(e, ERR_INVALID,
			"drop is \"%.80s\"; write KIND/NAME, of a LocalQueue LocalQueue/NAMESPACE/NAME. KIND is " KINDS_TEXT,
			text);
	s->item[s->n++] = x;
	return 0;
}

/* ---- in the copies ----------------------------------------------------------------------------- */

static int apply_time_spec(
	struct time_specs *t, enum time_specs_kind kind, const cJSON *o, struct err *e)
{
	time_specs_wants_list(t); /* earlier wants are not this object's */
	int rc = time_specs_see(t, kind, o, e);
	if (rc == 0 && time_specs_wants_list(t))
		return err_set(e, ERR_INVALID,
			"it names a ConfigMap that no object names now, so the controller has not read it: it can be simulated once an object names it");
	return rc;
}

static int apply_object(const struct whatif_item *x, struct whatif_specs *s, struct queue *q,
	struct time_specs *t, struct err *e)
{
	const cJSON *o;
	int rc = json_parse(s->json, slice_of(x->json), &o, e);
	if (rc == 0)
		rc = x->kind->tell ? x->kind->tell(q, o, e)
				   : apply_time_spec(t, x->kind->time_spec, o, e);
	json_reset(s->json);
	return rc;
}

static int apply_drop(
	const struct whatif_item *x, struct queue *q, struct time_specs *t, struct err *e)
{
	if (!x->kind->is_there(q, x->ns, x->name))
		return err_set(e, ERR_INVALID, "there is no %s %s%s%s", x->kind->name, x->ns,
			*x->ns ? "/" : "", x->name);
	if (x->kind->drop_in)
		x->kind->drop_in(q, x->ns, x->name);
	else if (x->kind->drop)
		x->kind->drop(q, x->name);
	else
		time_specs_drop(t, x->kind->time_spec, x->name);
	return 0;
}

int whatif_specs_apply(struct whatif_specs *s, struct queue *q, struct time_specs *t, struct err *e)
{
	if (t)
		time_specs_keep_quiet(t); /* the log is about what is, not what would be */
	for (size_t i = 0; i < s->n; i++) {
		const struct whatif_item *x = &s->item[i];
		int rc = x->json ? apply_object(x, s, q, t, e) : apply_drop(x, q, t, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}
