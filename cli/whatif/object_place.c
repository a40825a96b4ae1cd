#include "cli/whatif/object_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	PLACES_MAX = 64,
	PLACES_TOLD = 8,
	FIELDS_TOLD = 12,
	TEXT_MAX_BYTES = 16 * 1024,
	SENTENCE_BYTES = 440, /* length in a struct err, with room for what is put in front */
};

struct search {
	const cJSON *root, *schema;
	const char *path;
	const struct object_steps *steps;
	struct object_place *found;
	size_t nfound;
	bool more;	/* more places than PLACES_MAX */
	struct buf why; /* reason why the search ended where it came furthest */
	size_t why_depth;
};

/* ---- texts ----------------------------------------------------------------------------------- */

static bool is_plain_key(const char *key)
{
	return *key && !strpbrk(key, ".[]\"'\\ \xE2");
}

static void put_hop(const struct object_hop *h, bool first, struct buf *out)
{
	if (!h->key && h->name)
		buf_printf(out, "[name=%s]", h->name);
	else if (!h->key)
		buf_printf(out, "[%zu]", h->index);
	else if (is_plain_key(h->key))
		buf_printf(out, "%s%s", first ? "" : ".", h->key);
	else if (strchr(h->key, '"'))
		buf_printf(out, "['%s']", h->key);
	else
		buf_printf(out, "[\"%s\"]", h->key);
}

void object_place_put(const struct object_place *p, struct buf *out)
{
	for (size_t i = 0; i < p->n; i++)
		put_hop(&p->hop[i], i == 0, out);
}

/* Appends the place in short: its beginning, the items that have names, its end. */
static void put_short_place(const struct object_place *p, struct buf *out)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct object_hop *h = &p->hop[i];
		bool named = !h->key && h->name, last = i + 1 == p->n;
		if (i > 0 && (named || last))
			buf_puts(out, "...");
		if (i == 0 || named || last)
			put_hop(h, true, out);
	}
}

static void put_keys(const cJSON *object, struct buf *out)
{
	size_t n = 0;
	json_each(member, object) {
		if (n++ < FIELDS_TOLD)
			buf_printf(out, "%s%s", n == 1 ? "" : ", ", member->string);
	}
	if (n > FIELDS_TOLD)
		buf_printf(out, " and %zu more", n - FIELDS_TOLD);
}

/* ---- what keeps the search from going on ----------------------------------------------------- */

/* True if this is further than before; then s->why is begun anew with the place. */
static bool is_further(struct search *s, const struct object_place *at)
{
	if (s->why.len > 0 && at->n <= s->why_depth)
		return false;
	buf_reset(&s->why);
	s->why_depth = at->n;
	if (at->n > 0)
		object_place_put(at, &s->why);
	else
		buf_printf(&s->why, "a %s", json_text(s->root, "kind"));
	return true;
}

static bool is_list(const cJSON *node, const cJSON *schema)
{
	const char *type = json_text(schema, "type");
	return cJSON_IsArray(node) || (!node && type && strcmp(type, "array") == 0);
}

static void no_field(struct search *s, const struct object_place *at, const cJSON *node,
	const cJSON *schema, const char *key)
{
	const cJSON *fields = json_object(schema, "properties");
	if (!is_further(s, at))
		return;
	if (is_list(node, schema)) {
		buf_printf(&s->why,
			" is a list; say of which item %s is meant, as in [0] or [name=spot]", key);
		return;
	}
	buf_printf(&s->why, " has no field %s", key);
	if (fields || cJSON_IsObject(node)) {
		buf_puts(&s->why, "; there are: ");
		put_keys(fields ? fields : node, &s->why);
	}
}

const char *object_item_name(const cJSON *item)
{
	const char *name = json_text(item, "name");
	return name && is_plain_key(name) ? name : NULL;
}

static void no_item(struct search *s, const struct object_place *at, const cJSON *node,
	const struct object_step *step)
{
	size_t n = 0;
	if (!is_further(s, at))
		return;
	if (step->kind == STEP_INDEX)
		buf_printf(&s->why, " has no item [%zu]", step->index);
	else
		buf_printf(&s->why, " has no item with %s=%s", step->key, step->value);
	json_each(item, cJSON_IsArray(node) ? node : NULL) {
		if (n < FIELDS_TOLD)
			buf_puts(&s->why, n == 0 ? "; there are: " : ", ");
		if (n < FIELDS_TOLD && object_item_name(item))
			buf_puts(&s->why, object_item_name(item));
		else if (n < FIELDS_TOLD)
			buf_printf(&s->why, "[%zu]", n);
		n++;
	}
	if (n > FIELDS_TOLD)
		buf_printf(&s->why, " and %zu more", n - FIELDS_TOLD);
}

/* ---- the search ------------------------------------------------------------------------------ */

static bool is_same_place(const struct object_place *a, const struct object_place *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const char *x = a->hop[i].key, *y = b->hop[i].key;
		if (!x != !y || (x ? strcmp(x, y) != 0 : a->hop[i].index != b->hop[i].index))
			return false;
	}
	return true;
}

/* Keeps a place, once: several ways may lead to it where a path leaves out several parts. */
static void keep(struct search *s, const struct object_place *at)
{
	for (size_t i = 0; i < s->nfound; i++)
		if (is_same_place(&s->found[i], at))
			return;
	if (s->nfound < PLACES_MAX)
		s->found[s->nfound++] = *at;
	else
		s->more = true;
}

/* True for what Kubernetes writes and for the status: they are no facts of the queue. */
static bool is_not_settable(const struct object_place *at, const char *key)
{
	static const char *const keys[] = {"apiVersion", "kind", "metadata", "status"};
	for (size_t i = 0; at->n == 0 && i < sizeof(keys) / sizeof(*keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static void look(struct search *s, struct object_place *at, size_t step);

static void enter(struct search *s, const struct object_place *at, const struct object_hop *hop,
	const cJSON *node, const cJSON *schema, size_t step)
{
	if (at->n == OBJECT_HOPS_MAX)
		return;
	struct object_place next = *at;
	next.hop[next.n++] = *hop;
	next.node = node;
	next.schema = schema;
	look(s, &next, step);
}

static void take_key(struct search *s, const struct object_place *at, const struct object_step *o,
	size_t step, bool exactly_here)
{
	const cJSON *node = json_get(at->node, o->key);
	const cJSON *schema = json_object(json_object(at->schema, "properties"), o->key);
	if (!schema && (node || exactly_here)) /* a map may have any key */
		schema = json_object(at->schema, "additionalProperties");
	if ((!node && !schema) || is_not_settable(at, o->key)) {
		if (exactly_here)
			no_field(s, at, at->node, at->schema, o->key);
		return;
	}
	enter(s, at, &(struct object_hop){.key = o->key}, node, schema, step + 1);
}

static bool is_item(const cJSON *item, size_t index, const struct object_step *o)
{
	const cJSON *field = json_get(item, o->key);
	char number[32];
	if (o->kind == STEP_INDEX)
		return index == o->index;
	if (cJSON_IsNumber(field)) {
		snprintf(number, sizeof(number), "%.0f", field->valuedouble);
		return strcmp(number, o->value) == 0;
	}
	return cJSON_IsString(field) && strcmp(field->valuestring, o->value) == 0;
}

/* Returns the name of an item; NULL: it has none, or shares it with another item. */
static const char *own_name(const cJSON *list, const cJSON *item)
{
	const char *name = object_item_name(item);
	json_each(other, list) {
		const char *its = object_item_name(other);
		if (name && other != item && its && strcmp(its, name) == 0)
			return NULL;
	}
	return name;
}

static struct object_hop hop_to_item(const struct object_place *at, const cJSON *item, size_t index)
{
	const struct object_hop *list = at->n > 0 ? &at->hop[at->n - 1] : NULL;
	return (struct object_hop){
		.index = index, .list = list ? list->key : NULL, .name = own_name(at->node, item)};
}

static void take_item(struct search *s, const struct object_place *at, const struct object_step *o,
	size_t step, bool exactly_here)
{
	const cJSON *array = cJSON_IsArray(at->node) ? at->node : NULL;
	size_t index = 0;
	bool any = false;
	json_each(item, array) {
		struct object_hop hop = hop_to_item(at, item, index);
		if (is_item(item, index++, o)) {
			any = true;
			enter(s, at, &hop, item, json_object(at->schema, "items"), step + 1);
		}
	}
	if (!any && exactly_here)
		no_item(s, at, at->node, o);
}

static void take_step(
	struct search *s, const struct object_place *at, size_t step, bool exactly_here)
{
	const struct object_step *o = &s->steps->step[step];
	if (o->kind == STEP_KEY)
		take_key(s, at, o, step, exactly_here);
	else
		take_item(s, at, o, step, exactly_here);
}

/* Takes the step in all that is below: what is written, and fields that may be. */
static void look_below(struct search *s, const struct object_place *at, size_t step)
{
	const cJSON *fields = json_object(at->schema, "properties");
	size_t index = 0;
	json_each(field, fields)
		if (!is_not_settable(at, field->string))
			enter(s, at, &(struct object_hop){.key = field->string},
				json_get(at->node, field->string), field, step);
	json_each(member, cJSON_IsObject(at->node) ? at->node : NULL)
		if (!json_get(fields, member->string) && !is_not_settable(at, member->string))
			enter(s, at, &(struct object_hop){.key = member->string}, member,
				json_object(at->schema, "additionalProperties"), step);
	json_each(item, cJSON_IsArray(at->node) ? at->node : NULL) {
		struct object_hop hop = hop_to_item(at, item, index++);
		enter(s, at, &hop, item, json_object(at->schema, "items"), step);
	}
}

static void look(struct search *s, struct object_place *at, size_t step)
{
	if (step == s->steps->n) {
		keep(s, at);
		return;
	}
	bool anywhere = s->steps->step[step].anywhere;
	take_step(s, at, step, !anywhere);
	if (anywhere)
		look_below(s, at, step);
}

/* ---- the only one ---------------------------------------------------------------------------- */

/* Appends what an item of the list is called: "flavor" for "flavors". */
static void put_list_name(const char *list, struct buf *out)
{
	size_t len = strlen(list);
	buf_add(out, list, len > 1 && list[len - 1] == 's' ? len - 1 : len);
}

static bool is_told_apart_at(const struct search *s, size_t hop)
{
	const struct object_hop *first = &s->found[0].hop[hop];
	for (size_t i = 1; i < s->nfound; i++) {
		const struct object_hop *h = &s->found[i].hop[hop];
		if (hop >= s->found[i].n || h->key || !h->name)
			return false;
		if (strcmp(h->name, first->name) != 0)
			return true;
	}
	return false;
}

/* Appends "name the flavor and the resource", or "say which". */
static void put_what_to_name(const struct search *s, struct buf *out)
{
	size_t n = 0;
	for (size_t i = 0; i < s->found[0].n; i++) {
		const struct object_hop *h = &s->found[0].hop[i];
		if (h->key || !h->name || !h->list || !is_told_apart_at(s, i))
			continue;
		buf_puts(out, n++ == 0 ? "name the " : " and the ");
		put_list_name(h->list, out);
	}
	if (n == 0)
		buf_puts(out, "say which");
}

/* Forgets the places that may be but are not written, if some are written. */
static void forget_unwritten(struct search *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->nfound; i++)
		if (s->found[i].node)
			s->found[n++] = s->found[i];
	s->nfound = n > 0 ? n : s->nfound;
}

static struct search *search_new(
	const cJSON *root, const cJSON *schema, const char *path, const struct object_steps *steps)
{
	struct search *s = mem_alloc(sizeof(*s));
	s->root = root;
	s->schema = schema;
	s->path = path;
	s->steps = steps;
	s->found = mem_array(PLACES_MAX, sizeof(*s->found));
	buf_init(&s->why, TEXT_MAX_BYTES);
	return s;
}

static void search_free(struct search *s)
{
	buf_done(&s->why);
	free(s->found);
	free(s);
}

static void search_all(struct search *s)
{
	struct object_place at = {.node = s->root, .schema = s->schema};
	look(s, &at, 0);
	forget_unwritten(s);
}

static bool leads_to(const struct search *s, const char *path, const struct object_place *p)
{
	struct object_steps steps;
	if (object_steps_parse(path, &steps, NULL) < 0)
		return false;
	struct search *again = search_new(s->root, s->schema, path, &steps);
	search_all(again);
	bool yes = again->nfound == 1 && is_same_place(&again->found[0], p);
	search_free(again);
	return yes;
}

/* Appends a path that can be given: in short, if that says enough. */
static void put_found(const struct search *s, const struct object_place *p, struct buf *out)
{
	struct buf in_short;
	buf_init(&in_short, TEXT_MAX_BYTES);
	put_short_place(p, &in_short);
	if (leads_to(s, buf_text(&in_short), p))
		buf_puts(out, buf_text(&in_short));
	else
		object_place_put(p, out);
	buf_done(&in_short);
}

static int say_several(const struct search *s, struct err *e)
{
	struct buf text, line;
	size_t told = 0;
	buf_init(&text, TEXT_MAX_BYTES);
	buf_init(&line, TEXT_MAX_BYTES);
	buf_printf(&text, "%.100s is at %zu%s places; ", s->path, s->nfound,
		s->more ? " or more" : "");
	put_what_to_name(s, &text);
	buf_putc(&text, ':');
	for (; told < s->nfound && told < PLACES_TOLD; told++) {
		buf_reset(&line);
		buf_puts(&line, "\n    ");
		put_found(s, &s->found[told], &line);
		if (text.len + line.len > SENTENCE_BYTES - 40)
			break;
		buf_add(&text, buf_text(&line), line.len);
	}
	if (told < s->nfound)
		buf_printf(&text, "\n    and %zu more", s->nfound - told);
	int rc = err_set(e, ERR_INVALID, "%s", buf_text(&text));
	buf_done(&text);
	buf_done(&line);
	return rc;
}

static int say_none(const struct search *s, struct err *e)
{
	if (s->why.len > 0)
		return err_set(e, ERR_INVALID, "%.*s", SENTENCE_BYTES, buf_text(&s->why));
	return err_set(e, ERR_INVALID, "this %s has no place %.200s, and may not have it",
		json_text(s->root, "kind"), s->path);
}

static int find(struct search *s, struct err *e)
{
	search_all(s);
	if (s->nfound == 0)
		return say_none(s, e);
	return s->nfound == 1 ? 0 : say_several(s, e);
}

int object_place_find(const cJSON *root, const cJSON *schema, const char *path,
	const struct object_steps *steps, struct object_place *ret, struct err *e)
{
	struct search *s = search_new(root, schema, path, steps);
	int rc = find(s, e);
	if (rc == 0)
		*ret = s->found[0];
	search_free(s);
	return rc;
}
