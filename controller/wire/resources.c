#include "controller/wire/resources.h"

#include <inttypes.h>
#include <string.h>

#include "controller/wire/decode_parts.h"
#include "sluice/quantity.h"

#define TREE_MAX_BYTES (16 << 20)
#define QOS_POINTER "/spec/template/metadata/labels/koordinator.sh~1qosClass"

static const struct lent lents[] = {
	{"kubernetes.io/batch-cpu", LENDING_BATCH, "cpu", 1, false},
	{"kubernetes.io/batch-memory", LENDING_BATCH, "memory", 1, false},
	{"gocran.io/cpu", LENDING_GOCRAN, "cpu", 1000, false},
	{"gocran.io/memory", LENDING_GOCRAN, "memory", 1, false},
	{"alibabacloud.com/reclaimed", LENDING_BATCH, "cpu", 1, true},
	{"alibabacloud.com/reclaimed-cpu", LENDING_BATCH, "cpu", 1, true},
	{"alibabacloud.com/reclaimed-memory", LENDING_BATCH, "memory", 1, true},
};
#define LENTS (sizeof(lents) / sizeof(*lents))

static const char *const plains[] = {"cpu", "memory"};
static const char *const maps[] = {"requests", "limits"};
static const char *const lists[] = {"containers", "initContainers"};

const struct lent *resources_lent(const char *name)
{
	for (size_t i = 0; name && i < LENTS; i++)
		if (strcmp(lents[i].name, name) == 0)
			return &lents[i];
	return NULL;
}

/* Gives the name under which plain is published. */
static const struct lent *published(enum lending l, const char *plain)
{
	for (size_t i = 0; i < LENTS; i++)
		if (lents[i].kind == l && !lents[i].legacy && strcmp(lents[i].plain, plain) == 0)
			return &lents[i];
	return NULL;
}

/* Gives "cpu" or "memory", by its own or by a lent name; NULL for all others. */
static const char *plain_of(const char *name)
{
	const struct lent *lent = resources_lent(name);
	for (size_t i = 0; i < 2; i++)
		if (strcmp(plains[i], name) == 0)
			return plains[i];
	return lent ? lent->plain : NULL;
}

/* Reads an amount; false: absent, or none. */
static bool amount_of(const cJSON *value, const char *resource, int64_t *ret)
{
	struct decoder quiet = {0};
	if (!value)
		return false;
	*ret = quantity_value(&quiet, NULL, value, resource);
	return !quiet.faulty;
}

/* Whether both ask for one amount under this name, however it is written: the API server writes
 * 50000 as 50k. */
static bool same_amount(const cJSON *a, const cJSON *b, const char *name)
{
	int64_t x, y;
	const cJSON *of_a = json_get(a, name), *of_b = json_get(b, name);
	if (!of_a || !of_b)
		return of_a == of_b;
	if (amount_of(of_a, name, &x) && amount_of(of_b, name, &y))
		return x == y;
	return cJSON_Compare(of_a, of_b, true);
}

/* ---- Writing a text --------------------------------------------------------------------------
 */

static void put_key(struct buf *out, const char *key)
{
	if (out->len > 0 && buf_text(out)[out->len - 1] != '{')
		buf_putc(out, ',');
	buf_json_string(out, key);
	buf_putc(out, ':');
}

static void put_member(struct buf *out, const char *key, const cJSON *value)
{
	put_key(out, key);
	json_print(out, value);
}

static const char *name_of(const cJSON *container)
{
	const char *name = json_text(container, "name");
	return name ? name : "";
}

typedef void (*put_resources)(struct buf *out, const cJSON *container, void *ctx);

static void put_list(
	struct buf *out, const char *key, const cJSON *list, put_resources put, void *ctx)
{
	bool first = true;
	if (!list)
		return;
	put_key(out, key);
	buf_putc(out, '[');
	json_each(c, list) {
		buf_puts(out, first ? "{\"name\":" : ",{\"name\":");
		buf_json_string(out, name_of(c));
		buf_puts(out, ",\"resources\":{");
		put(out, c, ctx);
		buf_puts(out, "}}");
		first = false;
	}
	buf_putc(out, ']');
}

static void put_text(
	struct buf *out, const cJSON *pod, const char *qos, put_resources put, void *ctx)
{
	buf_putc(out, '{');
	for (size_t i = 0; i < 2; i++)
		put_list(out, lists[i], json_array(pod, lists[i]), put, ctx);
	if (qos) {
		put_key(out, "qosClass");
		buf_json_string(out, qos);
	}
	buf_putc(out, '}');
}

static void put_as_is(struct buf *out, const cJSON *container, void *ctx)
{
	(void)ctx;
	json_each(member, json_object(container, "resources"))
		put_member(out, member->string, member);
}

static const char *qos_of(const cJSON *template)
{
	return json_text(json_object(json_object(template, "metadata"), "labels"), QOS_LABEL);
}

void resources_take(const cJSON *template, struct buf *out)
{
	put_text(out, json_object(template, "spec"), qos_of(template), put_as_is, NULL);
}

/* ---- What its owner wrote --------------------------------------------------------------------
 */

struct restoring {
	const cJSON *original, *applied; /* texts */
	bool edited; /* the template has lent names that neither its owner nor we wrote */
};

static const cJSON *container_named(const cJSON *text, const char *name)
{
	for (size_t i = 0; i < 2; i++)
		json_each(c, json_array(text, lists[i]))
			if (strcmp(name_of(c), name) == 0)
				return c;
	return NULL;
}

static const cJSON *map_of(const cJSON *container, const char *map)
{
	return json_object(json_object(container, "resources"), map);
}

/* Whether both ask for one amount of cpu (or memory), under whatever names. */
static bool same_plain(const cJSON *a, const cJSON *b, const char *plain)
{
	for (size_t i = 0; i < LENTS; i++)
		if (strcmp(lents[i].plain, plain) == 0 && !same_amount(a, b, lents[i].name))
			return false;
	return same_amount(a, b, plain);
}

/* Whether we put this name there, and its owner does not have it. */
static bool is_ours(const char *name, const cJSON *now, const cJSON *original, const cJSON *applied)
{
	return resources_lent(name) && json_get(applied, name) && !json_get(original, name) &&
	       same_amount(now, applied, name);
}

static void restore_map(struct buf *out, struct restoring *r, const cJSON *now,
	const cJSON *original, const cJSON *applied)
{
	bool back[2];
	for (size_t i = 0; i < 2; i++)
		back[i] = !same_plain(original, applied, plains[i]) &&
			  same_plain(now, applied, plains[i]);
	json_each(value, now) {
		const char *plain = plain_of(value->string);
		if ((plain && back[plain == plains[1]]) ||
			is_ours(value->string, now, original, applied))
			continue;
		put_member(out, value->string, value);
		r->edited |= resources_lent(value->string) && !json_get(original, value->string);
	}
	json_each(value, original) {
		const char *plain = plain_of(value->string);
		if (plain && back[plain == plains[1]])
			put_member(out, value->string, value);
	}
}

static void put_restored(struct buf *out, const cJSON *container, void *ctx)
{
	struct restoring *r = ctx;
	const cJSON *original = container_named(r->original, name_of(container));
	const cJSON *applied = container_named(r->applied, name_of(container));
	json_each(member, json_object(container, "resources"))
		if (strcmp(member->string, maps[0]) != 0 && strcmp(member->string, maps[1]) != 0)
			put_member(out, member->string, member);
	for (size_t i = 0; i < 2; i++) {
		const cJSON *now = map_of(container, maps[i]);
		struct buf map;
		buf_init(&map, out->ceiling);
		restore_map(&map, r, now, map_of(original, maps[i]), map_of(applied, maps[i]));
		if (map.len > 0 || (now && !now->child)) {
			put_key(out, maps[i]);
			buf_putc(out, '{');
			buf_add(out, buf_text(&map), map.len);
			buf_putc(out, '}');
		}
		out->failed |= map.failed;
		buf_done(&map);
	}
}

static bool text_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

void resources_restore(
	const cJSON *template, const cJSON *original, const cJSON *applied, struct buf *out)
{
	struct restoring r = {original, applied, false};
	const char *qos = qos_of(template);
	size_t before = out->len;
	bool as_applied = text_same(qos, json_text(applied, "qosClass"));
	put_text(out, json_object(template, "spec"),
		as_applied ? json_text(original, "qosClass") : qos, put_restored, &r);
	if (!r.edited)
		return;
	if (!out->failed)
		out->len = before;
	resources_take(template, out);
}

/* ---- For a run -------------------------------------------------------------------------------
 */

static const struct lent *list_asks_lent(const cJSON *list)
{
	json_each(c, list)
		for (size_t i = 0; i < 2; i++)
			json_each(value, map_of(c, maps[i]))
				if (resources_lent(value->string))
					return resources_lent(value->string);
	return NULL;
}

const struct lent *resources_asks_lent(const cJSON *text)
{
	const struct lent *lent = list_asks_lent(json_array(text, lists[0]));
	return lent ? lent : list_asks_lent(json_array(text, lists[1]));
}

struct converting {
	struct lent_form form;
	struct err *e;
	int rc;
};

/* Puts what holds a container of a lent pod to an amount of "cpu" or "memory": as a request
 * nothing, as a limit the amount. */
static void put_kubelet_limit(struct buf *out, const char *map, const char *plain, int64_t amount)
{
	put_key(out, plain);
	if (strcmp(map, "requests") == 0)
		buf_puts(out, "\"0\"");
	else
		buf_printf(out, "\"%" PRId64 "%s\"", amount, plain == plains[0] ? "m" : "");
}

/* Finds what a map asks for of "cpu" or "memory" under any of the lent names; false: nothing. */
static bool lent_amount(const cJSON *map, const char *plain, int64_t *ret)
{
	int64_t amount;
	*ret = 0;
	for (size_t i = 0; i < LENTS; i++)
		if (strcmp(lents[i].plain, plain) == 0 &&
			amount_of(json_get(map, lents[i].name), lents[i].name, &amount))
			*ret = quantity_add(*ret, quantity_times(amount, lents[i].unit));
	return *ret > 0;
}

/* Puts the limits of a container that asks for lent resources itself, beside what it says. */
static void put_limits_beside(
	struct buf *out, const cJSON *container, const char *map, const struct converting *v)
{
	int64_t amount;
	const cJSON *asked = map_of(container, "requests");
	if (!asked) /* as the API server does for a Pod */
		asked = map_of(container, "limits");
	for (size_t i = 0; v->form.kubelet_limits && i < 2; i++)
		if (!json_get(map_of(container, map), plains[i]) &&
			lent_amount(asked, plains[i], &amount))
			put_kubelet_limit(out, map, plains[i], amount);
}

static bool is_amounts(const char *key)
{
	return strcmp(key, maps[0]) == 0 || strcmp(key, maps[1]) == 0;
}

static void put_renamed_map(
	struct buf *out, const cJSON *container, const char *map, const struct converting *v)
{
	put_key(out, map);
	buf_putc(out, '{');
	json_each(value, map_of(container, map)) {
		const struct lent *lent = resources_lent(value->string);
		if (lent && lent->legacy)
			lent = published(lent->kind, lent->plain);
		put_member(out, lent ? lent->name : value->string, value);
	}
	put_limits_beside(out, container, map, v);
	buf_putc(out, '}');
}

static void put_renamed(struct buf *out, const cJSON *container, void *ctx)
{
	json_each(member, json_object(container, "resources")) {
		if (is_amounts(member->string) && cJSON_IsObject(member))
			put_renamed_map(out, container, member->string, ctx);
		else
			put_member(out, member->string, member);
	}
	/* Without requests the API server would make them of the limits. */
	const struct converting *v = ctx;
	if (v->form.kubelet_limits && !map_of(container, maps[0]) && map_of(container, maps[1]))
		put_renamed_map(out, container, maps[0], v);
}

static void put_amount(struct buf *out, const cJSON *resources, const char *plain, const char *map,
	struct converting *v, const char *container)
{
	int64_t amount;
	const struct lent *lent = published(v->form.lending, plain);
	const cJSON *value = json_get(json_object(resources, "requests"), plain);
	if (!value) /* as the API server does for a Pod */
		value = json_get(json_object(resources, "limits"), plain);
	if (!lent || !amount_of(value, plain, &amount))
		return;
	if (amount % lent->unit != 0)
		v->rc = err_set(v->e, ERR_INVALID,
			"container %s asks for %" PRId64
			"m of %s, and %s is counted in whole cores; ask for a multiple of 1",
			container, amount, plain, lent->name);
	put_key(out, lent->name);
	buf_printf(out, "\"%" PRId64 "\"", amount / lent->unit);
	if (v->form.kubelet_limits && amount > 0)
		put_kubelet_limit(out, map, plain, amount);
}

static void put_converted(struct buf *out, const cJSON *container, void *ctx)
{
	struct converting *v = ctx;
	const cJSON *resources = json_object(container, "resources");
	json_each(member, resources)
		if (!is_amounts(member->string))
			put_member(out, member->string, member);
	for (size_t i = 0; i < 2; i++) {
		put_key(out, maps[i]);
		buf_putc(out, '{');
		json_each(value, json_object(resources, maps[i]))
			if (!plain_of(value->string))
				put_member(out, value->string, value);
		for (size_t k = 0; k < 2; k++)
			put_amount(out, resources, plains[k], maps[i], v, name_of(container));
		buf_putc(out, '}');
	}
}

static void convert_tree(const cJSON *text, struct converting *v, struct buf *out)
{
	if (resources_asks_lent(text))
		put_text(out, text, QOS_LENT, put_renamed, v);
	else if (v->form.lending == LENDING_NONE)
		put_text(out, text, json_text(text, "qosClass"), put_as_is, NULL);
	else
		put_text(out, text, QOS_LENT, put_converted, v);
}

int resources_convert(struct slice text, struct lent_form form, struct buf *out, struct err *e)
{
	const cJSON *root;
	struct converting v = {form, e, 0};
	struct json *tree = json_new(TREE_MAX_BYTES);
	int rc = json_parse(tree, text, &root, e);
	if (rc == 0)
		convert_tree(root, &v, out);
	json_free(tree);
	return rc < 0 ? rc : v.rc;
}

/* Sets the label, or takes it off: a `remove` of nothing fails, so it is set first. */
static void patch_label(const char *qos, struct buf *out)
{
	buf_puts(out, ",{\"op\":\"add\",\"path\":\"" QOS_POINTER "\",\"value\":");
	buf_json_string(out, qos ? qos : "");
	buf_putc(out, '}');
	if (!qos)
		buf_puts(out, ",{\"op\":\"remove\",\"path\":\"" QOS_POINTER "\"}");
}

void resources_patch(struct slice text, struct buf *out)
{
	const cJSON *root;
	struct json *tree = json_new(TREE_MAX_BYTES);
	if (json_parse(tree, text, &root, NULL) < 0) {
		out->failed = true;
	} else {
		for (size_t i = 0; i < 2; i++) {
			size_t n = 0;
			json_each(c, json_array(root, lists[i])) {
				buf_printf(out,
					",{\"op\":\"add\",\"path\":\"/spec/template/spec/%s/%zu/"
					"resources\",\"value\":",
					lists[i], n++);
				json_print(out, json_get(c, "resources"));
				buf_putc(out, '}');
			}
		}
		patch_label(json_text(root, "qosClass"), out);
	}
	json_free(tree);
}
