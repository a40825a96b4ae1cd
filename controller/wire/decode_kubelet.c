/*
 * Reads Prometheus text of a kubelet's /metrics/resource, of which four families matter. A family
 * comes whole before the next one, so the two halves of a pod lie far apart: they are noted as they
 * come, and paired when all are there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/wire/decode_node.h"
#include "controller/wire/decode_text.h"

#define LABEL_MAX 256 /* bytes of a namespace's or a pod's name */
#define NUMBER_MAX 64 /* bytes of a number */
#define READINGS_MAX 65536
#define CPU_S_MAX 9e9 /* 285 years of one core, in nanoseconds still an int64 */
#define MEMORY_MAX 9e18

enum half { HALF_CPU, HALF_MEMORY };

struct reading {
	char ns[LABEL_MAX], name[LABEL_MAX]; /* "": the node */
	enum half half;
	int64_t at_ms, value;
};

struct readings {
	struct reading *item;
	size_t count, cap;
};

static struct slice take_line(struct slice *text)
{
	const char *end = memchr(text->ptr, '\n', text->len);
	size_t len = end ? (size_t)(end - text->ptr) : text->len;
	struct slice line = {text->ptr, len};
	text->ptr += end ? len + 1 : len;
	text->len -= end ? len + 1 : len;
	return line;
}

static void skip(struct slice *s, size_t n)
{
	s->ptr += n;
	s->len -= n;
}

static void skip_blanks(struct slice *s)
{
	while (s->len > 0 && (*s->ptr == ' ' || *s->ptr == '\t' || *s->ptr == '\r'))
		skip(s, 1);
}

/* Takes the next word, up to a blank, as text. */
static bool take_word(struct slice *s, char ret[NUMBER_MAX])
{
	size_t n = 0;
	skip_blanks(s);
	while (n < s->len && s->ptr[n] != ' ' && s->ptr[n] != '\t' && s->ptr[n] != '\r')
		n++;
	if (n == 0 || n >= NUMBER_MAX)
		return false;
	memcpy(ret, s->ptr, n);
	ret[n] = '\0';
	skip(s, n);
	return true;
}

/* Takes one name="value" of a sample. Names of namespaces and pods need no escapes; other labels
 * are skipped with theirs. */
static bool take_label(struct slice *s, struct slice *ret_name, struct slice *ret_value)
{
	size_t n = 0;
	while (n < s->len && s->ptr[n] != '=')
		n++;
	*ret_name = (struct slice){s->ptr, n};
	if (n + 1 >= s->len || s->ptr[n + 1] != '"')
		return false;
	skip(s, n + 2);
	for (n = 0; n < s->len && s->ptr[n] != '"'; n++)
		n += s->ptr[n] == '\\';
	if (n >= s->len)
		return false;
	*ret_value = (struct slice){s->ptr, n};
	skip(s, n + 1);
	return true;
}

static bool keep_label(struct slice value, char ret[LABEL_MAX])
{
	if (value.len >= LABEL_MAX)
		return false;
	for (size_t i = 0; i < value.len; i++)
		if (value.ptr[i] <= 0x20 || value.ptr[i] >= 0x7f || value.ptr[i] == '\\')
			return false;
	memcpy(ret, value.ptr, value.len);
	ret[value.len] = '\0';
	return true;
}

/* Takes {namespace="a",pod="b"}, or nothing. */
static bool take_labels(struct slice *s, struct reading *r)
{
	struct slice name, value;
	if (s->len == 0 || *s->ptr != '{')
		return true;
	skip(s, 1);
	while (s->len > 0 && *s->ptr != '}') {
		if (!take_label(s, &name, &value))
			return false;
		if (slice_is(name, "namespace") && !keep_label(value, r->ns))
			return false;
		if (slice_is(name, "pod") && !keep_label(value, r->name))
			return false;
		if (s->len > 0 && *s->ptr == ',')
			skip(s, 1);
		skip_blanks(s);
	}
	if (s->len == 0)
		return false;
	skip(s, 1);
	return true;
}

static bool number_of(const char *text, double max, double *ret)
{
	char *end;
	*ret = strtod(text, &end);
	return *end == '\0' && isfinite(*ret) && *ret >= 0 && *ret <= max;
}

/* Takes the value, rounded up, and the time in ms where there is one. */
static bool take_value(struct slice *s, int64_t now_ms, struct reading *r)
{
	char word[NUMBER_MAX];
	double value, at;
	if (!take_word(s, word) ||
		!number_of(word, r->half == HALF_CPU ? CPU_S_MAX : MEMORY_MAX, &value))
		return false;
	r->value = (int64_t)ceil(r->half == HALF_CPU ? value * 1e9 : value);
	r->at_ms = now_ms;
	if (!take_word(s, word))
		return s->len == 0;
	if (!number_of(word, 253402300799000.0, &at))
		return false;
	r->at_ms = (int64_t)at;
	skip_blanks(s);
	return s->len == 0;
}

static bool take_family(struct slice *line, struct reading *r, bool *ret_pod)
{
	static const struct {
		const char *name;
		bool pod;
		enum half half;
	} families[] = {
		{"node_cpu_usage_seconds_total", false, HALF_CPU},
		{"node_memory_working_set_bytes", false, HALF_MEMORY},
		{"pod_cpu_usage_seconds_total", true, HALF_CPU},
		{"pod_memory_working_set_bytes", true, HALF_MEMORY},
	};
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		size_t len = strlen(families[i].name);
		if (!slice_starts(*line, families[i].name) ||
			(line->len > len && !strchr("{ \t", line->ptr[len])))
			continue;
		r->half = families[i].half;
		*ret_pod = families[i].pod;
		skip(line, len);
		return true;
	}
	return false;
}

/* Reads a line. False: a line of the four families that does not follow their form. */
static bool read_line(struct slice line, int64_t now_ms, struct readings *all)
{
	struct reading r = {.ns = ""};
	bool pod;
	if (!take_family(&line, &r, &pod))
		return true;
	if (!take_labels(&line, &r) || !take_value(&line, now_ms, &r))
		return false;
	if (pod != (*r.ns && *r.name) || all->count == READINGS_MAX)
		return false;
	all->item = mem_room(all->item, all->count, &all->cap, 64, sizeof(*all->item));
	all->item[all->count++] = r;
	return true;
}

static int reading_cmp(const void *va, const void *vb)
{
	const struct reading *a = va, *b = vb;
	int c = strcmp(a->ns, b->ns);
	if (c == 0)
		c = strcmp(a->name, b->name);
	return c != 0 ? c : (int)a->half - (int)b->half;
}

/* Tells each pod, sorted so that its two halves stand side by side, the node first. */
static void tell(const struct readings *all, void (*each)(const struct kubelet_usage *u, void *ctx),
	void *ctx)
{
	for (size_t i = 0; i + 1 < all->count; i++) {
		const struct reading *cpu = &all->item[i], *memory = cpu + 1;
		if (cpu->half != HALF_CPU || memory->half != HALF_MEMORY ||
			strcmp(cpu->ns, memory->ns) != 0 || strcmp(cpu->name, memory->name) != 0)
			continue;
		each(&(struct kubelet_usage){cpu->ns, cpu->name, cpu->at_ms, cpu->value,
			     memory->value},
			ctx);
	}
}

static bool has_node(const struct readings *all)
{
	return all->count > 1 && !*all->item[0].name && !*all->item[1].name &&
	       all->item[0].half == HALF_CPU && all->item[1].half == HALF_MEMORY;
}

int decode_kubelet_usage(struct slice text, int64_t now_ms,
	void (*each)(const struct kubelet_usage *u, void *ctx), void *ctx, struct err *e)
{
	struct readings all = {0};
	char shown[SHOWN_SIZE];
	int rc = 0;
	while (rc == 0 && text.len > 0) {
		struct slice line = take_line(&text);
		if (!read_line(line, now_ms, &all))
			rc = err_set(e, ERR_INVALID,
				"%s is no sample of a kubelet's; the node's path may lead elsewhere",
				slice_show(line, shown));
	}
	if (rc == 0 && all.count > 0)
		qsort(all.item, all.count, sizeof(*all.item), reading_cmp);
	if (rc == 0 && !has_node(&all))
		rc = err_set(e, ERR_INVALID,
			"no node_cpu_usage_seconds_total and node_memory_working_set_bytes in it; is it what a kubelet serves under /metrics/resource?");
	if (rc == 0)
		tell(&all, each, ctx);
	free(all.item);
	return rc;
}
