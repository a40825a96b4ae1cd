#include "cli/whatif/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/flags.h"
#include "cli/import/accepted.h"
#include "cli/live_object.h"
#include "cli/simulate/documents.h"
#include "cli/table.h"
#include "cli/visibility.h"
#include "cli/whatif/object_path.h"
#include "controller/common/path.h"

#define API_VERSION "sluice.dev/v1alpha1"

enum {
	FILE_MAX_BYTES = 4 << 20,
	TEXT_MAX_BYTES = 1 << 20,
	SHOWN_BYTES = 120, /* length of a value in the list of changes */
};

/* An object as it would be. */
struct object {
	const struct live_kind *kind;
	char *ns; /* "" where its kind has none */
	char *name;
	cJSON *tree;		/* NULL: the object would be gone */
	char *where;		/* "file.yaml:12"; NULL: live */
	bool is_of_our_version; /* the compiled-in CRD takes the object as it was read */
};

struct change {
	size_t object;
	char *place, *before, *after; /* JSON; "" for nothing */
};

struct changes {
	struct changes_source from;
	struct accepted accepted;
	struct object object[CHANGES_MAX];
	size_t nobjects;
	struct change change[CHANGES_MAX];
	size_t nchanges;
};

struct changes *changes_new(const struct changes_source *from)
{
	struct changes *c = mem_alloc(sizeof(*c));
	c->from = *from;
	return c;
}

void changes_free(struct changes *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nobjects; i++) {
		free(c->object[i].ns);
		free(c->object[i].name);
		free(c->object[i].where);
		cJSON_Delete(c->object[i].tree);
	}
	for (size_t i = 0; i < c->nchanges; i++) {
		free(c->change[i].place);
		free(c->change[i].before);
		free(c->change[i].after);
	}
	accepted_done(&c->accepted);
	free(c);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Appends "clusterqueue/batch", "localqueue/team/main". */
static void put_name(const struct object *o, struct buf *out)
{
	buf_printf(out, "%s/%s%s%s", o->kind->singular, o->ns, *o->ns ? "/" : "", o->name);
}

static void put_kinds(struct buf *out)
{
	const struct live_kind *k;
	for (size_t i = 0; (k = live_kind_at(i)); i++)
		buf_printf(out, "%s%s", i == 0 ? "" : ", ", k->singular);
}

static int say_kind(const char *text, struct err *e)
{
	struct buf kinds;
	buf_init(&kinds, TEXT_MAX_BYTES);
	put_kinds(&kinds);
	int rc = err_set(e, ERR_INVALID,
		"%.80s is of no kind that can be asked about; these can: %s", text,
		buf_text(&kinds));
	buf_done(&kinds);
	return rc;
}

/* Reads KIND/NAME; the name ends where the text ends. ret_name is yours. */
static int read_name(const char *flag, struct slice text, const struct live_kind **ret_kind,
	char **ret_name, struct err *e)
{
	const char *slash = memchr(text.ptr, '/', text.len);
	if (!slash)
		return err_set(
			e, ERR_INVALID, "%s wants KIND/NAME, as in clusterqueue/batch", flag);
	size_t len = (size_t)(slash - text.ptr);
	char shown[SLICE_SHOWN_SIZE];
	*ret_kind = live_kind_by_name((struct slice){text.ptr, len});
	if (!*ret_kind)
		return say_kind(slice_show(text, shown), e);
	char *name = mem_strndup(slash + 1, text.len - len - 1);
	int rc = flag_check_name(flag, name, e);
	if (rc == 0)
		*ret_name = name;
	else
		free(name);
	return rc;
}

/* ---- objects --------------------------------------------------------------------------------- */

static struct object *find(
	struct changes *c, const struct live_kind *k, const char *ns, const char *name)
{
	for (size_t i = 0; i < c->nobjects; i++) {
		struct object *o = &c->object[i];
		if (o->kind == k && strcmp(o->ns, ns) == 0 && strcmp(o->name, name) == 0)
			return o;
	}
	return NULL;
}

static const char *namespace_of(const struct changes *c, const struct live_kind *k, const char *ns)
{
	if (!k->namespaced)
		return "";
	return ns && *ns ? ns : c->from.ns;
}

/* Copies what the queue reads of an object: name, namespace, and what is beside the metadata. */
static cJSON *tree_of(
	const struct live_kind *k, const char *ns, const char *name, const cJSON *from)
{
	cJSON *tree = cJSON_CreateObject(), *meta;
	cJSON_AddStringToObject(tree, "apiVersion", API_VERSION);
	cJSON_AddStringToObject(tree, "kind", k->kind);
	meta = cJSON_AddObjectToObject(tree, "metadata");
	cJSON_AddStringToObject(meta, "name", name);
	if (*ns)
		cJSON_AddStringToObject(meta, "namespace", ns);
	json_each(member, from) {
		static const char *const ours[] = {"apiVersion", "kind", "metadata", "status"};
		bool is_ours = false;
		for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
			is_ours |= strcmp(member->string, ours[i]) == 0;
		if (!is_ours)
			cJSON_AddItemToObject(tree, member->string, cJSON_Duplicate(member, true));
	}
	return tree;
}

static int add(struct changes *c, const struct object *o, struct object **ret, struct err *e)
{
	if (c->nobjects == CHANGES_MAX)
		return err_set(
			e, ERR_LIMIT, "more than %d objects; ask about fewer at once", CHANGES_MAX);
	struct object *to = &c->object[c->nobjects++];
	*to = *o;
	to->ns = mem_strdup(o->ns);
	to->name = mem_strdup(o->name);
	to->where = mem_strdup(o->where);
	if (ret)
		*ret = to;
	return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int check_fields(struct changes *c, const struct object *o, struct err *e)
{
	struct buf unknown;
	int rc = 0;
	buf_init(&unknown, TEXT_MAX_BYTES);
	object_unknown_field(o->tree, accepted_schema(&c->accepted, o->kind->kind), &unknown);
	if (unknown.len > 0)
		rc = err_set(e, ERR_INVALID, "%s %.100s: %.200s: there is no such field",
			o->kind->kind, o->name, buf_text(&unknown));
	buf_done(&unknown);
	return rc;
}

static int add_object(struct changes *c, const struct live_kind *k, const cJSON *from,
	const char *where, struct err *e)
{
	const cJSON *meta = json_object(from, "metadata");
	const char *name = json_text(meta, "name"), *ns;
	char text[WHERE_SIZE];
	if (!name || flag_check_name("metadata.name", name, NULL) < 0)
		return err_set(e, ERR_INVALID, "%s without a name", k->kind);
	ns = namespace_of(c, k, json_text(meta, "namespace"));
	if (k->namespaced && flag_check_namespace("metadata.namespace", ns, e) < 0)
		return ERR_INVALID;
	if (find(c, k, ns, name))
		return err_set(e, ERR_INVALID, "%s %.100s is given twice", k->kind, name);
	snprintf(text, sizeof(text), "%s", where);
	struct object o = {k, (char *)ns, (char *)name, NULL, text, true};
	o.tree = tree_of(k, ns, name, from);
	int rc = check_fields(c, &o, e);
	if (rc == 0)
		rc = add(c, &o, NULL, e);
	if (rc < 0)
		cJSON_Delete(o.tree);
	return rc;
}

static int say_version(const char *kind, const char *api, struct err *e)
{
	return err_set(e, ERR_INVALID,
		"%.80s of %.80s is none of Sluice's; that is of " API_VERSION "%s", kind,
		*api ? api : "no apiVersion",
		strstr(api, "kueue") ? ", and sluice import kueue makes one of it" : "");
}

static int read_object(struct object_source *from, const cJSON *o, struct err *e)
{
	const char *kind = json_text(o, "kind"), *api = json_text(o, "apiVersion");
	char where[WHERE_SIZE];
	if (kind && strcmp(kind, "List") == 0)
		return object_items(from, o, read_object, e);
	const struct live_kind *k = kind ? live_kind_by_name(slice_of(kind)) : NULL;
	int rc;
	if (!k)
		rc = say_kind(kind ? kind : "an object without a kind", e);
	else if (!api || strcmp(api, API_VERSION) != 0)
		rc = say_version(kind, api ? api : "", e);
	else
		rc = add_object(from->ctx, k, o, object_where(from, "", where, sizeof(where)), e);
	if (rc < 0)
		object_wrap(from, "", e);
	return rc;
}

int changes_add_file(struct changes *c, const char *path, struct err *e)
{
	return objects_read_path(path, false, FILE_MAX_BYTES, read_object, c, e) < 0 ? ERR_INVALID
										     : 0;
}

int changes_add_object(struct changes *c, const cJSON *object, const char *where, struct err *e)
{
	const char *kind = json_text(object, "kind");
	const struct live_kind *k = kind ? live_kind_by_name(slice_of(kind)) : NULL;
	return k ? add_object(c, k, object, where, e)
		 : say_kind(kind ? kind : "an object without a kind", e);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static int read_live(struct changes *c, const struct live_kind *k, const char *name,
	struct object **ret, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *live;
	const char *ns = namespace_of(c, k, NULL);
	int rc = live_object_get(c->from.loop, c->from.client, k, ns, name, json, &live, e);
	if (rc == 0) {
		struct object o = {.kind = k, .ns = (char *)ns, .name = (char *)name};
		o.tree = tree_of(k, ns, name, live);
		o.is_of_our_version = accepted_check(&c->accepted, k->kind, o.tree, NULL) == 0;
		rc = add(c, &o, ret, e);
		if (rc < 0)
			cJSON_Delete(o.tree);
	}
	json_free(json);
	return rc;
}

/* Finds the end of the path: the first = outside brackets. */
static const char *end_of_path(const char *path)
{
	bool in_brackets = false;
	for (const char *p = path; *p; p++) {
		if (*p == '=' && !in_brackets)
			return p;
		in_brackets = *p == '[' || (in_brackets && *p != ']');
	}
	return NULL;
}

static int change(
	struct changes *c, struct object *o, const char *path, const char *value, struct err *e)
{
	struct buf place, before, after;
	if (c->nchanges == CHANGES_MAX)
		return err_set(
			e, ERR_LIMIT, "more than %d fields; ask about fewer at once", CHANGES_MAX);
	buf_init(&place, TEXT_MAX_BYTES);
	buf_init(&before, TEXT_MAX_BYTES);
	buf_init(&after, TEXT_MAX_BYTES);
	const struct object_change ret = {&place, &before, &after};
	int rc = object_path_set(
		o->tree, accepted_schema(&c->accepted, o->kind->kind), path, value, &ret, e);
	if (rc == 0)
		c->change[c->nchanges++] =
			(struct change){(size_t)(o - c->object), mem_strdup(buf_text(&place)),
				mem_strdup(buf_text(&before)), mem_strdup(buf_text(&after))};
	buf_done(&place);
	buf_done(&before);
	buf_done(&after);
	return rc;
}

static int set(struct changes *c, const struct live_kind *k, const char *name, const char *path,
	const char *value, struct err *e)
{
	struct object *o = find(c, k, namespace_of(c, k, NULL), name);
	int rc = o ? 0 : read_live(c, k, name, &o, e);
	if (rc < 0)
		return rc;
	must(o);
	if (!o->tree)
		return err_set(e, ERR_INVALID, "%s/%.200s is dropped, so nothing of it can be set",
			k->singular, name);
	rc = change(c, o, path, value, e);
	if (rc < 0)
		err_wrap(e, "%s/%.100s", k->singular, name);
	return rc;
}

int changes_set(struct changes *c, const char *text, struct err *e)
{
	const struct live_kind *k;
	const char *colon = strchr(text, ':'), *equals = colon ? end_of_path(colon + 1) : NULL;
	char *name;
	if (!equals)
		return err_set(e, ERR_INVALID,
			"--set wants KIND/NAME:PATH=VALUE, as in clusterqueue/batch:spec...nominalQuota=80; \"%.100s\" is not that",
			text);
	int rc = read_name("--set", (struct slice){text, (size_t)(colon - text)}, &k, &name, e);
	if (rc < 0)
		return rc;
	char *path = mem_strndup(colon + 1, (size_t)(equals - colon - 1));
	rc = set(c, k, name, path, equals + 1, e);
	free(path);
	free(name);
	return rc;
}

int changes_drop(struct changes *c, const char *text, struct err *e)
{
	const struct live_kind *k;
	char *name;
	int rc = read_name("--drop", slice_of(text), &k, &name, e);
	if (rc < 0)
		return rc;
	const char *ns = namespace_of(c, k, NULL);
	if (find(c, k, ns, name))
		rc = err_set(e, ERR_INVALID, "%s/%.200s is given twice", k->singular, name);
	else
		rc = add(c, &(struct object){.kind = k, .ns = (char *)ns, .name = name}, NULL, e);
	free(name);
	return rc;
}

int changes_check(struct changes *c, struct err *e)
{
	for (size_t i = 0; i < c->nobjects; i++) {
		const struct object *o = &c->object[i];
		if (!o->tree || !o->is_of_our_version ||
			accepted_check(&c->accepted, o->kind->kind, o->tree, e) == 0)
			continue;
		err_wrap(e, "%s/%.100s", o->kind->singular, o->name);
		if (o->where)
			err_wrap(e, "%.200s", o->where);
		return ERR_INVALID;
	}
	return c->nobjects > 0 ? 0 : err_set(e, ERR_INVALID, "there is nothing to change");
}

/* ---- the question ---------------------------------------------------------------------------- */

static void put_object(const struct object *o, struct buf *out)
{
	struct buf text;
	buf_init(&text, TEXT_MAX_BYTES);
	if (o->tree) {
		json_print(&text, o->tree);
		buf_puts(out, "object=");
	} else {
		buf_printf(&text, "%s/%s%s%s", o->kind->kind, o->ns, *o->ns ? "/" : "", o->name);
		buf_puts(out, "drop=");
	}
	out->failed |= text.failed;
	/* JSON has many of these, at three bytes each. */
	path_escape_but(out, buf_text(&text), ":,/");
	buf_done(&text);
}

int changes_query(const struct changes *c, struct buf *out, struct err *e)
{
	struct buf query;
	buf_init(&query, CHANGES_QUERY_MAX_BYTES);
	for (size_t i = 0; i < c->nobjects; i++) {
		buf_puts(&query, i == 0 ? "" : "&");
		put_object(&c->object[i], &query);
	}
	int rc =
		query.failed
			? err_set(e, ERR_LIMIT,
				  "these objects are too large to be asked about at once: at most %d KiB, as a URL has them, fit a question; leave out those that do not change",
				  CHANGES_QUERY_MAX_BYTES / 1024)
			: 0;
	if (rc == 0)
		buf_add(out, buf_text(&query), query.len);
	buf_done(&query);
	return rc;
}

/* ---- what is said of them -------------------------------------------------------------------- */

static void put_value(const char *json, struct buf *out)
{
	struct buf cut;
	size_t len = slice_cut(json, SHOWN_BYTES);
	buf_init(&cut, TEXT_MAX_BYTES);
	buf_add(&cut, json, len);
	text_render(*json ? buf_text(&cut) : "nothing", out);
	buf_puts(out, json[len] ? "..." : "");
	buf_done(&cut);
}

static void put_whole(const struct object *o, struct buf *out)
{
	put_name(o, out);
	if (!o->tree) {
		buf_puts(out, "  dropped\n");
	} else {
		buf_puts(out, "  as in ");
		text_render(o->where, out);
		buf_putc(out, '\n');
	}
}

void changes_render(const struct changes *c, struct buf *out)
{
	for (size_t i = 0; i < c->nobjects; i++)
		if (c->object[i].where || !c->object[i].tree)
			put_whole(&c->object[i], out);
	for (size_t i = 0; i < c->nchanges; i++) {
		const struct change *x = &c->change[i];
		put_name(&c->object[x->object], out);
		buf_puts(out, "  ");
		text_render(x->place, out);
		buf_puts(out, ": ");
		put_value(x->before, out);
		if (strcmp(x->before, x->after) == 0) {
			buf_puts(out, ", as it is now\n");
			continue;
		}
		buf_puts(out, " -> ");
		put_value(x->after, out);
		buf_putc(out, '\n');
	}
}

static void begin_json(const struct object *o, struct json_writer *w)
{
	struct buf name;
	buf_init(&name, TEXT_MAX_BYTES);
	put_name(o, &name);
	jw_object(w, NULL);
	jw_text(w, "object", buf_text(&name));
	buf_done(&name);
}

void changes_json(const struct changes *c, const char *key, struct json_writer *w)
{
	jw_array(w, key);
	for (size_t i = 0; i < c->nobjects; i++) {
		const struct object *o = &c->object[i];
		if (o->tree && !o->where)
			continue;
		begin_json(o, w);
		if (o->tree)
			jw_text(w, "from", o->where);
		else
			jw_bool(w, "dropped", true);
		jw_end(w);
	}
	for (size_t i = 0; i < c->nchanges; i++) {
		const struct change *x = &c->change[i];
		begin_json(&c->object[x->object], w);
		jw_text(w, "path", x->place);
		jw_raw(w, "before", slice_of(*x->before ? x->before : "null"));
		jw_raw(w, "after", slice_of(*x->after ? x->after : "null"));
		jw_end(w);
	}
	jw_end(w);
}

/* ---- the question ---------------------------------------------------------------------------- */

int changes_ask(const struct changes_source *from, const struct changes *c,
	const struct changes_patience *p, struct json *json, const cJSON **ret, struct err *e)
{
	struct buf path;
	buf_init(&path, CHANGES_QUERY_MAX_BYTES + 256);
	buf_puts(&path, VISIBILITY_ROOT "/whatifs?");
	int rc = changes_query(c, &path, e);
	if (rc == 0) {
		const struct visibility_request r = {.path = buf_text(&path),
			.resource = "whatifs",
			.is_played = true,
			.rounds = p->rounds,
			.pause_ms = p->pause_ms,
			.has_no_namespace = true};
		rc = visibility_ask(from->loop, from->client, &r, json, ret, e);
	}
	buf_done(&path);
	return rc;
}
