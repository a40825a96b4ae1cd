/*
 * The Jobs that a Job waits for: annotation sluice.dev/after, a list of items with commas between
 * them. sluice/dependency.h has the words.
 *
 *   item    = [kind ":"] target | "singleton";
 *   kind    = "afterok" | "afterany" | "afternotok" | "after";
 *   target  = the name of a Job of this namespace | "{" label selector "}".
 *
 * A selector is written as for kubectl -l, and its commas are its own. A fault is told with the
 * item that it is in: a list of twelve has one that is to be mended.
 */
#include <string.h>

#include "controller/common/selector.h"
#include "controller/wire/decode_parts.h"
#include "sluice/keys.h"

#define AFTER_MAX_BYTES 8192
#define JOB_NAME_MAX 253

struct item {
	struct decoder *d;
	const struct path *at;
	const char *text; /* without blanks around it; the decoder's */
	struct dependency *ret;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void fault(const struct item *i, const char *what)
{
	char shown[SHOWN_SIZE];
	decoder_fault(i->d, i->at, "%s %s", text_show(i->text, shown), what);
}

/* ---- selectors ------------------------------------------------------------------------------- */

static bool requirement_valid(const struct requirement *r)
{
	bool valid = label_key_valid(r->key);
	for (size_t i = 0; i < r->nvalues; i++)
		valid = valid && label_value_valid(r->values[i]);
	return valid;
}

/* Copies a selector, which is borrowed from the text that was parsed, into the record. */
static void keep_selector(const struct item *i, const struct selector_term *t)
{
	struct parcel *p = &i->d->parcel;
	struct requirement *all = parcel_array(p, t->nrequirements, sizeof(*all));
	for (size_t k = 0; k < t->nrequirements; k++) {
		const struct requirement *r = &t->requirements[k];
		const char **values = parcel_array(p, r->nvalues, sizeof(*values));
		for (size_t v = 0; v < r->nvalues; v++)
			values[v] = text_keep(i->d, i->at, r->values[v], NAME_MAX_BYTES);
		all[k] = (struct requirement){
			text_keep(i->d, i->at, r->key, NAME_MAX_BYTES), r->op, values, r->nvalues};
	}
	i->ret->selector = (struct selector_term){all, t->nrequirements};
}

static void read_selector(const struct item *i, const char *target)
{
	static const char cure[] =
		"has no label selector in its braces; write e.g. afterok:{batch=tuesday,stage in (prep,load),!test}";
	struct selector s;
	size_t len = strlen(target);
	char *inner = parcel_bytes(&i->d->parcel, len + 1);
	if (len < 2 || target[len - 1] != '}') {
		fault(i, "has a { without its } at the end; write e.g. afterok:{batch=tuesday}");
		return;
	}
	memcpy(inner, target + 1, len - 2);
	bool valid = selector_parse(inner, &s) && s.term.nrequirements > 0;
	for (size_t k = 0; valid && k < s.term.nrequirements; k++)
		valid = requirement_valid(&s.term.requirements[k]);
	if (valid)
		keep_selector(i, &s.term);
	else
		fault(i, cure);
	selector_done(&s);
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool in_job_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

static bool is_job_name(const char *name)
{
	size_t len = strlen(name);
	bool valid = len > 0 && len <= JOB_NAME_MAX && name[0] != '-' && name[0] != '.' &&
		     name[len - 1] != '-' && name[len - 1] != '.';
	for (size_t k = 0; valid && k < len; k++)
		valid = in_job_name(name[k]);
	return valid;
}

static void read_name(const struct item *i, const char *target)
{
	if (strchr(target, '/'))
		fault(i,
			"names a Job of another namespace, and what other tenants run is not told; only Jobs of the same namespace can be waited for: write the name alone");
	else if (strchr(target, ':'))
		fault(i,
			"names several Jobs; write an item for each, with commas between them: afterok:prep,afterok:load");
	else if (!is_job_name(target))
		fault(i,
			"has no name of a Job; write e.g. afterok:prep, or a label selector in braces: afterok:{batch=tuesday}");
	else
		i->ret->name = target;
}

/* ---- items ----------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	enum dependency_kind kind;
} kinds[] = {
	{"afterok", AFTER_OK},
	{"afterany", AFTER_ANY},
	{"afternotok", AFTER_NOT_OK},
	{"after", AFTER_START},
};

/* Reads the kind, and gives the target behind it; NULL, and a fault, when there is no such kind. */
static const char *read_kind(const struct item *i)
{
	size_t len = strcspn(i->text, ":{");
	if (i->text[len] != ':') {
		i->ret->kind = AFTER_OK;
		return i->text;
	}
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		if (strlen(kinds[k].word) == len && strncmp(i->text, kinds[k].word, len) == 0) {
			i->ret->kind = kinds[k].kind;
			return i->text + len + 1;
		}
	if (strncmp(i->text, "aftercorr:", strlen("aftercorr:")) == 0)
		fault(i,
			"waits index by index, which Kubernetes cannot do: a Job starts as a whole; write afterok to wait for all of that Job, or make a Job of each index");
	else if (strncmp(i->text, "singleton:", strlen("singleton:")) == 0)
		fault(i,
			"has a name; singleton is about the Jobs of the same CronJob or generateName and stands alone: write singleton");
	else
		fault(i, "is of no known kind; write afterok, afterany, afternotok or after");
	return NULL;
}

static void read_item(const struct item *i)
{
	i->ret->text = i->text;
	if (i->text[0] == '\0') {
		decoder_fault(i->d, i->at,
			"has an item that is empty; take out the comma that is too many");
		return;
	}
	if (strcmp(i->text, "singleton") == 0) {
		i->ret->kind = AFTER_SINGLETON;
		return;
	}
	const char *target = read_kind(i);
	while (target && is_blank(*target))
		target++;
	if (target && *target == '{')
		read_selector(i, target);
	else if (target)
		read_name(i, target);
}

/* Measures an item up to the comma that ends it; a comma in braces does not. */
static size_t item_length(const char *text)
{
	size_t n = 0;
	for (bool inside = false; text[n] && (inside || text[n] != ','); n++)
		inside = text[n] == '{' || (inside && text[n] != '}');
	return n;
}

static size_t count_items(const char *text)
{
	size_t n = 1;
	for (text += item_length(text); *text; text += item_length(text))
		n++, text++;
	return n;
}

static const char *keep_item(struct decoder *d, const char *text, size_t len)
{
	while (len > 0 && is_blank(text[len - 1]))
		len--;
	for (; len > 0 && is_blank(*text); len--)
		text++;
	char *copy = parcel_bytes(&d->parcel, len + 1);
	for (size_t k = 0; k < len; k++) /* YAML may bring line ends */
		copy[k] = is_blank(text[k]) ? ' ' : text[k];
	return copy;
}

static void read_items(struct decoder *d, const struct path *at, const char *text, struct job *j)
{
	size_t n = count_items(text);
	if (n > DEPENDENCIES_MAX) {
		decoder_fault(d, at,
			"has %zu items; at most %d are possible: give the Jobs a label and wait for that, e.g. afterok:{batch=tuesday}",
			n, DEPENDENCIES_MAX);
		return;
	}
	struct dependency *all = parcel_array(&d->parcel, n, sizeof(*all));
	for (size_t k = 0; k < n; k++) {
		size_t len = item_length(text);
		struct item i = {d, at, keep_item(d, text, len), &all[k]};
		read_item(&i);
		text += len + (text[len] == ',');
	}
	j->after.item = all;
	j->after.count = n;
}

static bool all_blank(const char *text)
{
	while (is_blank(*text))
		text++;
	return *text == '\0';
}

static const char *keep_text(struct decoder *d, const char *text)
{
	size_t size = strlen(text) + 1;
	return memcpy(parcel_bytes(&d->parcel, size), text, size);
}

void job_after_field(
	struct decoder *d, const struct path *up, const cJSON *annotations, struct job *j)
{
	static const char *const failures[] = {"Wait", "Hold", "Delete", NULL};
	const struct path *at = PATH(up, AFTER_ANNOTATION);
	const char *text = json_text(annotations, AFTER_ANNOTATION);
	j->after.on_failure = (enum dependency_failure)name_field(d, up, annotations,
		DEPENDENCY_FAILURE_ANNOTATION, failures, DEPENDENCY_FAILURE_WAIT);
	if (!text && json_get(annotations, AFTER_ANNOTATION))
		decoder_fault(d, at, "must be a string; write e.g. afterok:prep");
	else if (text && strlen(text) > AFTER_MAX_BYTES)
		decoder_fault(d, at,
			"has %zu bytes; at most %d are possible: give the Jobs a label and wait for that, e.g. afterok:{batch=tuesday}",
			strlen(text), AFTER_MAX_BYTES);
	else if (text && !all_blank(text))
		read_items(d, at, text, j);
	if (d->faulty) /* what can be read of a wrong list would be another list */
		j->after = (struct dependencies){.on_failure = j->after.on_failure};
	const char *record = json_text(annotations, OUTCOMES_ANNOTATION);
	if (record && strlen(record) <= OUTCOME_RECORD_MAX)
		j->after.record = keep_text(d, record);
}
