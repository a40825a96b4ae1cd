#include "cli/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "cli/import/configuration.h"
#include "cli/import/jobs.h"
#include "cli/import/kinds.h"
#include "cli/import/metadata.h"
#include "cli/import/references.h"
#include "controller/wire/decode.h"

#define FILE_MAX_BYTES ((size_t)128 << 20)
#define OURS "sluice.dev/v1alpha1"

void import_init(struct import *i)
{
	*i = (struct import){.crane.margin_percent = -1};
}

void import_done(struct import *i)
{
	for (size_t n = 0; n < i->nitems; n++)
		item_done(&i->item[n]);
	free(i->item);
	accepted_done(&i->accepted);
	crane_done(&i->crane);
	*i = (struct import){0};
}

/* ---- one object ------------------------------------------------------------------------------ */

/* An object that came in: how it is read, and as what. */
struct input {
	struct import *import;
	struct object_source *from; /* NULL: the object is of a cluster */
	const char *origin;
	const char *api, *kind;
	const cJSON *o;
};

static bool is_live(const cJSON *o)
{
	return json_get(json_object(o, "metadata"), "uid") != NULL;
}

static void make_kind(struct walk *w, const struct input *in, const struct import_kind *k)
{
	struct err e = {""};
	cJSON *made = cJSON_CreateObject();
	must(cJSON_AddStringToObject(made, "apiVersion", OURS));
	must(cJSON_AddStringToObject(made, "kind", k->name));
	walk_fields(w, k->fields, in->o, made);
	if (k->wants_spec && !cJSON_GetObjectItemCaseSensitive(made, "spec"))
		must(cJSON_AddObjectToObject(made, "spec"));
	const char *field;
	if (!w->item->refused && k->check(made, &e) < 0)
		walk_refuse(w, "cannot be taken: %s",
			(field = strstr(e.text, ": ")) ? field + 2 : e.text);
	else if (!w->item->refused && accepted_check(&in->import->accepted, k->name, made, &e) < 0)
		walk_refuse(w, "cannot be taken: %s", e.text);
	note_kueue_left(w, made);
	references_of_kind(w, k->name, made);
	w->item->object = made;
	if (strcmp(k->name, "ClusterQueue") == 0)
		w->item->clusterqueue_spec = cJSON_GetObjectItemCaseSensitive(made, "spec");
}

static void take_kueue(struct walk *w, const struct input *in, const char *version)
{
	static const char *const versions[] = {"v1alpha1", "v1beta1", "v1beta2", NULL};
	const struct import_kind *k = import_kind_by_name(in->kind);
	const char *const *v = versions;
	while (*v && strcmp(*v, version) != 0)
		v++;
	if (!k)
		walk_refuse(w, "is no kind of Kueue that is known here");
	else if (!k->fields)
		walk_refuse(w, "is not taken: %s", k->meaning);
	else if (!*v)
		walk_refuse(
			w, "is of version %.60s; v1alpha1, v1beta1 and v1beta2 are known", version);
	else
		make_kind(w, in, k);
}

static bool in_group(const char *api, const char *group)
{
	size_t len = strlen(group);
	return strncmp(api, group, len) == 0 && api[len] == '/';
}

/* Takes what is neither Kueue's nor a Job. Labels of a namespace stay: selectors name them. */
static void take_other(struct walk *w, const struct input *in)
{
	bool is_namespace = strcmp(in->kind, "Namespace") == 0 && strcmp(in->api, "v1") == 0;
	if (strcmp(in->kind, "PriorityClass") == 0 && in_group(in->api, "scheduling.k8s.io"))
		note_negative(w, json_get(in->o, "value"));
	if (!is_namespace && walk_find_kueue(w, in->o))
		walk_refuse(w,
			"names Kueue, and Sluice queues Jobs of batch/v1 alone: leave it with Kueue, or rewrite it as a Job");
	else if (is_live(in->o))
		w->item->untouched = true;
	else
		w->item->object = cJSON_Duplicate(in->o, true);
}

/* ---- a configuration in a ConfigMap ---------------------------------------------------------- */

static int read_object(struct object_source *from, const cJSON *o, struct err *e);
static struct import_item *new_item(const struct input *in);

/* Reads an object within a ConfigMap, where further ConfigMaps are not looked for. */
static int read_embedded(struct object_source *from, const cJSON *o, struct err *e)
{
	const char *kind = json_text(o, "kind");
	if (!kind || strcmp(kind, "Configuration") == 0)
		return read_object(from, o, e);
	return err_set(e, ERR_INVALID, "%.60s is not Kueue's configuration", kind);
}

static bool is_configuration(const cJSON *text)
{
	return cJSON_IsString(text) && strstr(text->valuestring, "config." KUEUE_DOMAIN "/");
}

static void take_embedded(const struct input *in, const cJSON *text)
{
	char where[WHERE_SIZE], field[400], name[WHERE_SIZE + 500];
	struct err e = {""};
	snprintf(field, sizeof(field), "data.%.300s", text->string);
	if (in->from)
		object_where(in->from, field, where, sizeof(where));
	else
		snprintf(where, sizeof(where), "%.4000s", in->origin);
	snprintf(name, sizeof(name), "%s, %s", where, field);
	if (objects_read_text(name, slice_of(text->valuestring), read_embedded, in->import, &e) < 0)
		import_missing(in->import, name, "Configuration", e.text);
}

/* True when a text of the ConfigMap is Kueue's configuration, which then has an item of its own. */
static bool take_configmap(const struct input *in)
{
	const cJSON *data = json_object(in->o, "data");
	bool found = false;
	json_each(text, data) {
		if (is_configuration(text))
			take_embedded(in, text);
		found = found || is_configuration(text);
	}
	json_each(text, data)
		if (found && !is_configuration(text)) {
			struct import_item *item = new_item(in);
			item_note(item, item->where, text->string,
				"is left out: it is not Kueue's configuration");
		}
	return found;
}

/* ---- which way ------------------------------------------------------------------------------- */

static struct import_item *add_item(
	struct import *i, const char *kind, char *title, const char *where)
{
	i->item = mem_grow(i->item, i->nitems + 1, sizeof(*i->item));
	struct import_item *item = &i->item[i->nitems++];
	*item = (struct import_item){
		.kind = mem_strdup(kind), .title = title, .where = mem_strdup(where)};
	return item;
}

static char *title_of(const struct input *in)
{
	const char *name = decode_name(in->o), *begin;
	begin = json_text(json_object(in->o, "metadata"), "generateName");
	return item_title(in->kind, decode_namespace_of(in->o), *name || !begin ? name : begin);
}

static struct import_item *new_item(const struct input *in)
{
	char where[WHERE_SIZE];
	return add_item(in->import, in->kind, title_of(in),
		in->from ? object_where(in->from, "", where, sizeof(where)) : in->origin);
}

static void take_crane(const struct input *in)
{
	struct walk w;
	walk_init(&w, new_item(in), in->from, in->origin);
	w.live = is_live(in->o);
	if (!crane_take(in->import, &w, in->api, in->kind, in->o))
		crane_take_other(&w, in->o, w.live);
	walk_done(&w);
}

static void take(const struct input *in)
{
	struct walk w;
	if (in->import->source == IMPORT_CRANE) {
		take_crane(in);
		return;
	}
	if (strcmp(in->kind, "ConfigMap") == 0 && take_configmap(in))
		return;
	walk_init(&w, new_item(in), in->from, in->origin);
	if (in_group(in->api, KUEUE_DOMAIN))
		take_kueue(&w, in, in->api + strlen(KUEUE_DOMAIN "/"));
	else if (in_group(in->api, "config." KUEUE_DOMAIN) &&
		 strcmp(in->kind, "Configuration") == 0)
		import_configuration(&w, in->o);
	else if (strcmp(in->api, "batch/v1") == 0 &&
		 (strcmp(in->kind, "Job") == 0 || strcmp(in->kind, "CronJob") == 0))
		import_job(&w, in->o, strcmp(in->kind, "CronJob") == 0);
	else
		take_other(&w, in);
	walk_done(&w);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int read_object(struct object_source *from, const cJSON *o, struct err *e)
{
	const char *api = json_text(o, "apiVersion"), *kind = json_text(o, "kind");
	const cJSON *items = json_array(o, "items");
	size_t len = kind ? strlen(kind) : 0;
	if (items && len >= 4 && strcmp(kind + len - 4, "List") == 0 && *from->within == '\0')
		return object_items(from, o, read_object, e);
	if (api && kind) {
		take(&(struct input){from->ctx, from, from->file, api, kind, o});
		return 0;
	}
	char where[WHERE_SIZE];
	struct import_item *item = add_item(from->ctx, "?", mem_strdup("an object"),
		object_where(from, "", where, sizeof(where)));
	item_refuse(item, item->where, "", "is no object of Kubernetes: %s is missing",
		kind ? "apiVersion" : "kind");
	return 0;
}

int import_file(struct import *i, const char *path, struct err *e)
{
	return objects_read_path(path, true, FILE_MAX_BYTES, read_object, i, e);
}

int import_text(struct import *i, const char *name, struct slice text, struct err *e)
{
	return objects_read_text(name, text, read_object, i, e);
}

void import_object(
	struct import *i, const char *origin, const char *api, const char *kind, const cJSON *o)
{
	const char *own_api = json_text(o, "apiVersion"), *own_kind = json_text(o, "kind");
	take(&(struct input){
		i, NULL, origin, own_api ? own_api : api, own_kind ? own_kind : kind, o});
}

void import_missing(struct import *i, const char *origin, const char *kind, const char *why)
{
	item_refuse(add_item(i, kind, mem_strdup(kind), origin), origin, "",
		"could not be read: %s", why);
}

/* ---- what came of it ------------------------------------------------------------------------- */

enum import_outcome import_outcome(const struct import_item *item)
{
	if (item->refused)
		return IMPORT_REFUSED;
	if (item->untouched)
		return IMPORT_UNTOUCHED;
	return item->nnotes > 0 ? IMPORT_WITH_NOTES : IMPORT_WHOLE;
}

size_t import_count(const struct import *i, enum import_outcome outcome)
{
	size_t n = 0;
	for (size_t k = 0; k < i->nitems; k++)
		n += import_outcome(&i->item[k]) == outcome;
	return n;
}
