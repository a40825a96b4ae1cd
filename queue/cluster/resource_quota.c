#include "queue/cluster/resource_quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/order.h"
#include "queue/cluster/footprint.h"
#include "queue/job/resources.h"

#define SENTENCE_MAX (256 * 1024)

bool resource_quota_counts(const struct resource_quota *q, const struct pod *p)
{
	struct footprint *f = footprint_new(p);
	bool counts = footprint_counts(f, q);
	free(f);
	return counts;
}

bool resource_quota_usage(const struct pod *p, const char *name, int64_t *ret_amount)
{
	struct footprint *f = footprint_new(p);
	struct resource usage;
	bool found = footprint_usage(f, name, &usage);
	if (found)
		*ret_amount = usage.amount;
	free(f);
	return found;
}

/* ---- Sorted lists of a sentence -------------------------------------------------------------- */

/* The names of a quota's hard limits that pods have, or of containers; freed with free(). */
struct names {
	const char **item;
	size_t count;
};

static struct names limited_names(const struct resource_quota *q)
{
	struct names n = {mem_array(q->hard.count, sizeof(*n.item)), 0};
	for (size_t i = 0; i < q->hard.count; i++)
		if (quota_name_is_of_pods(q->hard.item[i].name))
			n.item[n.count++] = q->hard.item[i].name;
	qsort(n.item, n.count, sizeof(*n.item), text_order);
	return n;
}

/* Sorted, and each once. */
static void write_names(struct names *n, struct buf *to)
{
	qsort(n->item, n->count, sizeof(*n->item), text_order);
	for (size_t i = 0; i < n->count; i++)
		if (i == 0 || strcmp(n->item[i], n->item[i - 1]) != 0)
			buf_printf(to, "%s%s", i > 0 ? "," : "", n->item[i]);
}

/* ---- quotas that the API server cannot read -------------------------------------------------- */

#define LABEL_VALUE_MAX 63

static bool is_alphanumeric(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool has_label_form(const char *s)
{
	size_t n = strlen(s);
	if (n == 0)
		return true;
	for (size_t i = 0; i < n; i++)
		if (!is_alphanumeric(s[i]) && !strchr("-_.", s[i]))
			return false;
	return is_alphanumeric(s[0]) && is_alphanumeric(s[n - 1]);
}

static bool is_label_value(const char *s)
{
	return strlen(s) <= LABEL_VALUE_MAX && has_label_form(s);
}

/* One value of a scopeSelector, in the words of the API server's labels. */
static void write_fault(const struct quota_scope_term *t, size_t i, struct buf *to)
{
	bool long_one = strlen(t->values[i]) > LABEL_VALUE_MAX;
	buf_printf(to, "values[%zu][PriorityClass]: Invalid value: \"", i);
	buf_puts(to, t->values[i]);
	buf_puts(to, "\": ");
	if (long_one)
		buf_printf(to, "must be no more than %d bytes", LABEL_VALUE_MAX);
	if (!has_label_form(t->values[i]))
		buf_printf(to,
			"%sa valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
			long_one ? "; " : "");
}

static void write_faults(
	const struct resource_quota *q, const struct quota_scope_term *t, size_t n, struct buf *to)
{
	size_t written = 0;
	buf_printf(to, "error matching scopes of quota %s, err: error on matching scope ", q->name);
	buf_printf(to, "{PriorityClass %s [", t->op == SELECTOR_IN ? "In" : "NotIn");
	for (size_t i = 0; i < t->nvalues; i++)
		buf_printf(to, "%s%s", i > 0 ? " " : "", t->values[i]);
	buf_printf(to, "]}: failed to parse and convert selector: %s", n > 1 ? "[" : "");
	for (size_t i = 0; i < t->nvalues; i++) {
		if (is_label_value(t->values[i]))
			continue;
		buf_puts(to, written++ > 0 ? ", " : "");
		write_fault(t, i, to);
	}
	buf_puts(to, n > 1 ? "]" : "");
}

/* The API server checks names of PriorityClasses as label values, which are shorter, but accepts
 * any text when the quota is made. With a name that is no label value no pod can be made in the
 * namespace. */
static bool is_readable(const struct resource_quota *q, struct buf *sentence)
{
	for (size_t i = 0; i < q->nscopes; i++) {
		const struct quota_scope_term *t = &q->scopes[i];
		size_t bad = 0;
		if (t->scope != SCOPE_PRIORITY_CLASS)
			continue;
		for (size_t k = 0; k < t->nvalues; k++)
			bad += !is_label_value(t->values[k]);
		if (bad > 0) {
			write_faults(q, t, bad, sentence);
			return false;
		}
	}
	return true;
}

/* ---- Pods without required fields ------------------------------------------------------------ */

/* Only these names must be specified. Kubernetes calls that a mistake. */
static bool must_be_said(const char *name)
{
	static const char *const all[] = {
		"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(name, all[i]) == 0)
			return true;
	return false;
}

static bool says(const struct container *c, const char *name)
{
	const char *dot = strchr(name, '.');
	const char *resource = dot ? dot + 1 : name;
	if (resources_find(&c->limits, resource))
		return true; /* a limit stands in for a request */
	return strncmp(name, "limits.", 7) != 0 && resources_find(&c->requests, resource);
}

static void add_silent(const struct container *c, size_t n, const char *name, struct names *silent)
{
	for (size_t i = 0; i < n; i++)
		if (!says(&c[i], name))
			silent->item[silent->count++] = c[i].name ? c[i].name : "";
}

/* "limits.memory for: main,proxy; memory for: main"; nothing when nothing is missing. With pod-level
 * resources not each container needs it. */
static void write_missing(
	const struct names *limited, const struct pod_resources *r, struct buf *to)
{
	struct names silent = {
		mem_array(r->ncontainers + r->ninit_containers, sizeof(*silent.item)), 0};
	bool whole = r->pod_level.count + r->pod_level_limits.count > 0;
	for (size_t i = 0; i < limited->count && !whole; i++) {
		if (!must_be_said(limited->item[i]))
			continue;
		silent.count = 0;
		add_silent(r->containers, r->ncontainers, limited->item[i], &silent);
		add_silent(r->init_containers, r->ninit_containers, limited->item[i], &silent);
		if (silent.count > 0) {
			buf_printf(to, "%s%s for: ", to->len > 0 ? "; " : "", limited->item[i]);
			write_names(&silent, to);
		}
	}
	free(silent.item);
}

static bool is_counted(const struct resource_quota *q, const struct names *limited)
{
	for (size_t i = 0; i < limited->count; i++)
		if (!resources_find(&q->used, limited->item[i]))
			return false;
	return true;
}

/* Whatever the amounts are. */
static bool takes(const struct resource_quota *q, const struct pod *p, struct buf *sentence)
{
	struct names limited = limited_names(q);
	struct buf missing;
	buf_init(&missing, SENTENCE_MAX);
	write_missing(&limited, &p->resources, &missing);
	bool said = missing.len == 0, counted = is_counted(q, &limited);
	if (!said) {
		buf_printf(sentence, "failed quota: %s: must specify ", q->name);
		buf_puts(sentence, buf_text(&missing));
	} else if (!counted) {
		buf_printf(sentence, "status unknown for quota: %s, resources: ", q->name);
		write_names(&limited, sentence);
	}
	buf_done(&missing);
	free(limited.item);
	return said && counted;
}

/* ---- Exceeded quotas ------------------------------------------------------------------------- */

/* One hard limit that would be exceeded. */
struct excess {
	const char *name;
	struct resource requested, used, hard;
};

static int excess_cmp(const void *a, const void *b)
{
	return strcmp(((const struct excess *)a)->name, ((const struct excess *)b)->name);
}

/* A limit of which the pods ask for nothing may be exceeded already. */
static bool exceeds(const struct quota_state *s, size_t i, const struct footprint *f,
	struct pod_count pods, struct excess *ret)
{
	const struct resource *hard = &s->quota->hard.item[i];
	const struct resource *used = resources_find(&s->quota->used, hard->name);
	struct resource one;
	if (!used || !footprint_usage(f, hard->name, &one) || one.amount == 0)
		return false;
	int32_t n = strcmp(hard->name, "count/pods") == 0 ? pods.in_all : pods.at_once;
	*ret = (struct excess){hard->name, one, *used, *hard};
	ret->requested.amount = quantity_times(one.amount, n);
	if (used->amount == 0)
		ret->used.style = one.style;
	if (s->reserved)
		ret->used.amount = quantity_add(used->amount, s->reserved[i]);
	return quantity_add(ret->used.amount, ret->requested.amount) > hard->amount;
}

static void write_amounts(
	struct buf *to, const char *word, const struct excess *all, size_t n, size_t which)
{
	buf_puts(to, word);
	for (size_t i = 0; i < n; i++) {
		char text[QUANTITY_TEXT_SIZE];
		const struct resource *r = (const struct resource *)((const char *)&all[i] + which);
		quantity_canonical(
			r->amount, quota_unit_of(all[i].name), (enum quantity_style)r->style, text);
		buf_printf(to, "%s%s=%s", i > 0 ? "," : "", all[i].name, text);
	}
}

static bool has_room(const struct quota_state *s, const struct footprint *f, struct pod_count pods,
	struct buf *sentence)
{
	size_t n = 0;
	struct excess *all = mem_array(s->quota->hard.count, sizeof(*all));
	for (size_t i = 0; i < s->quota->hard.count; i++)
		n += exceeds(s, i, f, pods, &all[n]);
	qsort(all, n, sizeof(*all), excess_cmp);
	if (n > 0) {
		buf_printf(sentence, "exceeded quota: %s", s->quota->name);
		write_amounts(
			sentence, ", requested: ", all, n, offsetof(struct excess, requested));
		write_amounts(sentence, ", used: ", all, n, offsetof(struct excess, used));
		write_amounts(sentence, ", limited: ", all, n, offsetof(struct excess, hard));
	}
	free(all);
	return n == 0;
}

static int32_t fewer(int32_t most, int64_t pods)
{
	return pods < most ? (int32_t)pods : most;
}

/* As in exceeds(); a limit too large to count has room for anything. */
static void bound_by(
	const struct quota_state *s, size_t i, const struct footprint *f, struct pod_count *most)
{
	const struct resource *hard = &s->quota->hard.item[i];
	const struct resource *used = resources_find(&s->quota->used, hard->name);
	struct resource one;
	if (!used || !footprint_usage(f, hard->name, &one) || one.amount == 0 ||
		hard->amount == INT64_MAX)
		return;
	int64_t taken = quantity_add(used->amount, s->reserved ? s->reserved[i] : 0);
	int64_t pods = taken < hard->amount ? (hard->amount - taken) / one.amount : 0;
	if (strcmp(hard->name, "count/pods") == 0)
		most->in_all = fewer(most->in_all, pods);
	else
		most->at_once = fewer(most->at_once, pods);
}

struct pod_count resource_quota_room(const struct quota_state *all, size_t n, const struct pod *p)
{
	struct footprint *f = footprint_new(p);
	struct pod_count most = {INT32_MAX, INT32_MAX};
	struct buf sentence;
	buf_init(&sentence, SENTENCE_MAX);
	for (size_t i = 0; i < n; i++) {
		bool counts = footprint_counts(f, all[i].quota);
		if (!is_readable(all[i].quota, &sentence) ||
			(counts && !takes(all[i].quota, p, &sentence)))
			most = (struct pod_count){0, 0};
		for (size_t k = 0; counts && k < all[i].quota->hard.count; k++)
			bound_by(&all[i], k, f, &most);
	}
	buf_done(&sentence);
	free(f);
	return most;
}

/* Cut at the end of a character: names of classes may be any text. */
static void give_sentence(const struct buf *from, char *ret, size_t size)
{
	snprintf(ret, size, "%s", buf_text(from));
	for (size_t n = strlen(ret); n > 0 && !slice_utf8(slice_of(ret)); n--)
		ret[n - 1] = '\0';
}

bool resource_quota_admits(const struct quota_state *all, size_t n, const struct pod *p,
	struct pod_count pods, char *ret_sentence, size_t size)
{
	struct footprint *f = footprint_new(p);
	struct buf sentence;
	bool admits = true;
	if (pods.at_once <= 0)
		n = 0;
	buf_init(&sentence, SENTENCE_MAX);
	for (size_t i = 0; i < n && admits; i++) {
		admits = is_readable(all[i].quota, &sentence);
		if (admits && footprint_counts(f, all[i].quota))
			admits = takes(all[i].quota, p, &sentence);
	}
	for (size_t i = 0; i < n && admits; i++)
		if (footprint_counts(f, all[i].quota))
			admits = has_room(&all[i], f, pods, &sentence);
	give_sentence(&sentence, ret_sentence, size);
	buf_done(&sentence);
	free(f);
	return admits;
}
