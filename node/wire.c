#include "node/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define NEEDED INT64_MIN

/* A member of an object: a whole number, or true. What is absent is its fallback, and a number that
 * is its fallback is not written. */
struct field {
	const char *key;
	size_t at; /* in the record */
	bool is_flag;
	int64_t fallback; /* NEEDED: there is none */
	int64_t least;
};

#define NUMBER(record, member, key, fallback, least)                                               \
	{                                                                                          \
		key, offsetof(struct record, member), false, fallback, least                       \
	}
#define FLAG(record, member, key)                                                                  \
	{                                                                                          \
		key, offsetof(struct record, member), true, 0, 0                                   \
	}

static const struct field orders_fields[] = {
	NUMBER(orders, generation, "generation", NEEDED, 1),
	FLAG(orders, lends, "lends"),
	FLAG(orders, limits, "limits"),
	FLAG(orders, suppress, "suppress"),
	NUMBER(orders, capacity.cpu_milli, "cpu", 0, 0),
	NUMBER(orders, capacity.memory_bytes, "memory", 0, 0),
	NUMBER(orders, reserved.cpu_milli, "reserved_cpu", 0, 0),
	NUMBER(orders, reserved.memory_bytes, "reserved_memory", 0, 0),
	NUMBER(orders, suppress_percent, "suppress_percent", 0, 0),
	NUMBER(orders, suppress_min_percent, "suppress_min_percent", 0, 0),
	NUMBER(orders, suppress_rise_percent, "suppress_rise_percent", 0, 0),
	NUMBER(orders, hold_percent, "hold_percent", 0, 0),
	NUMBER(orders, end_percent, "end_percent", 0, 0),
};

static const struct field ordered_pod_fields[] = {
	NUMBER(ordered_pod, asked.cpu_milli, "cpu", 0, 0),
	NUMBER(ordered_pod, asked.memory_bytes, "memory", 0, 0),
	FLAG(ordered_pod, stays, "stays"),
};

static const struct field ordered_container_fields[] = {
	NUMBER(ordered_container, asked.cpu_milli, "cpu", 0, 0),
	NUMBER(ordered_container, asked.memory_bytes, "memory", 0, 0),
};

static const struct field sample_fields[] = {
	NUMBER(sample, number, "number", NEEDED, 1),
	NUMBER(sample, window_ms, "window_ms", NEEDED, 0),
	NUMBER(sample, pods_used.cpu_milli, "pods_cpu", -1, 0),
	NUMBER(sample, pods_used.memory_bytes, "pods_memory", -1, 0),
	NUMBER(sample, memory_total, "memory_total", -1, 0),
	NUMBER(sample, memory_available, "memory_available", -1, 0),
	NUMBER(sample, pressure_us, "pressure_us", -1, 0),
	NUMBER(sample, may_milli, "may_cpu", -1, 0),
	NUMBER(sample, orders, "orders", 0, 0),
	NUMBER(sample, deeds_lost, "deeds_lost", 0, 0),
};

static const struct field used_fields[] = {
	NUMBER(load, cpu_milli, "cpu", NEEDED, 0),
	NUMBER(load, memory_bytes, "memory", NEEDED, 0),
};

static const struct field sampled_pod_fields[] = {
	NUMBER(sampled_pod, used.cpu_milli, "cpu", NEEDED, 0),
	NUMBER(sampled_pod, used.memory_bytes, "memory", NEEDED, 0),
	NUMBER(sampled_pod, quota_milli, "quota", -1, 0),
	NUMBER(sampled_pod, throttled_ms, "throttled_ms", 0, 0),
	FLAG(sampled_pod, over, "over"),
};

static const struct field deed_fields[] = {
	NUMBER(deed, number, "number", NEEDED, 1),
	NUMBER(deed, value, "value", 0, 0),
};

static const char *const idle_words[] = {"never", "auto", "always"};
static const char *const lack_words[] = {
	"tier", "cpu", "memory", "hold", "end", "idle", "pressure"}; /* bit by bit */

/* ---- writing --------------------------------------------------------------------------------- */

static void put_fields(
	struct json_writer *w, const struct field *fields, size_t n, const void *record)
{
	for (const struct field *f = fields; f < fields + n; f++) {
		const void *member = (const char *)record + f->at;
		if (!f->is_flag && *(const int64_t *)member != f->fallback)
			jw_int(w, f->key, *(const int64_t *)member);
		else if (f->is_flag && *(const bool *)member)
			jw_bool(w, f->key, true);
	}
}
#define PUT(w, record, fields) put_fields(w, fields, COUNT(fields), record)

static void put_ordered_pod(struct json_writer *w, const struct ordered_pod *p)
{
	jw_object(w, NULL);
	uid_put(w, "uid", &p->uid);
	PUT(w, p, ordered_pod_fields);
	if (p->ncontainers)
		jw_array(w, "containers");
	for (size_t i = 0; i < p->ncontainers; i++) {
		jw_object(w, NULL);
		jw_text(w, "id", p->containers[i].id);
		PUT(w, &p->containers[i], ordered_container_fields);
		jw_end(w);
	}
	if (p->ncontainers)
		jw_end(w);
	jw_end(w);
}

void wire_put_orders(const struct orders *o, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	PUT(&w, o, orders_fields);
	jw_text(&w, "idle", idle_words[o->idle]);
	jw_array(&w, "pods");
	for (size_t i = 0; i < o->npods; i++)
		put_ordered_pod(&w, &o->pods[i]);
	jw_close(&w);
}

static void put_deed(struct json_writer *w, const struct deed *d)
{
	jw_object(w, NULL);
	jw_text(w, "kind", deed_names[d->kind]);
	uid_put(w, "uid", &d->uid);
	PUT(w, d, deed_fields);
	if (*d->file)
		jw_text(w, "file", d->file);
	jw_end(w);
}

void wire_put_sample(const struct sample *s, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	jw_text(&w, "boot", s->boot);
	PUT(&w, s, sample_fields);
	if (s->has_used) {
		jw_object(&w, "used");
		PUT(&w, &s->used, used_fields);
		jw_end(&w);
	}
	jw_array(&w, "lacks");
	for (size_t i = 0; i < COUNT(lack_words); i++)
		if (s->lacks >> i & 1)
			jw_text(&w, NULL, lack_words[i]);
	jw_end(&w);
	jw_array(&w, "pods");
	for (size_t i = 0; i < s->npods; i++) {
		jw_object(&w, NULL);
		uid_put(&w, "uid", &s->pods[i].uid);
		PUT(&w, &s->pods[i], sampled_pod_fields);
		jw_end(&w);
	}
	jw_end(&w);
	jw_array(&w, "deeds");
	for (size_t i = 0; i < s->ndeeds; i++)
		put_deed(&w, &s->deeds[i]);
	jw_close(&w);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* An object that is read, and where it stands, for sentences. */
struct reader {
	const cJSON *object;
	char where[64]; /* "orders: pods[3]." */
	struct err *e;
};

/* Says what a member has to be, and returns ERR_INVALID. */
static int wrong(const struct reader *r, const char *key, const char *needed)
{
	return err_set(r->e, ERR_INVALID, "%s%s: %s is needed", r->where, key, needed);
}

static int read_fields(const struct reader *r, const struct field *fields, size_t n, void *record)
{
	for (const struct field *f = fields; f < fields + n; f++) {
		void *member = (char *)record + f->at;
		int64_t number = f->fallback;
		int rc = f->is_flag ? json_bool(r->object, f->key, member)
				    : json_i64(r->object, f->key, &number);
		if (f->is_flag && rc == ERR_INVALID)
			return wrong(r, f->key, "true or false");
		bool bad = rc == ERR_GONE ? f->fallback == NEEDED : rc < 0 || number < f->least;
		if (!f->is_flag && bad)
			return wrong(r, f->key,
				f->least ? "a whole number from 1 on" : "a whole number from 0 on");
		if (!f->is_flag)
			*(int64_t *)member = number;
	}
	return 0;
}
#define READ(r, record, fields) read_fields(r, fields, COUNT(fields), record)

static int read_uid(const struct reader *r, const char *key, struct uid *ret)
{
	return uid_parse(json_text(r->object, key), ret) ? 0 : wrong(r, key, "a uid");
}

/* Returns which of some words it is; -1: none. */
static int find_word(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; text && i < n; i++)
		if (strcmp(text, words[i]) == 0)
			return (int)i;
	return -1;
}

/* Finds an array of objects, of no more than max. Absent: it has none. */
static int find_array(
	const struct reader *r, const char *key, size_t max, const cJSON **ret, size_t *ret_n)
{
	size_t n = 0;
	*ret = json_get(r->object, key);
	if (*ret && !cJSON_IsArray(*ret))
		return wrong(r, key, "an array");
	json_each(item, *ret)
		n++;
	*ret_n = n;
	if (n > max)
		return err_set(
			r->e, ERR_LIMIT, "%s%s: %zu are more than %zu", r->where, key, n, max);
	return 0;
}

/* Gives the reader of the i-th object of an array. */
static struct reader inner(const struct reader *r, const char *key, size_t i, const cJSON *object)
{
	struct reader in = {.object = object, .e = r->e};
	size_t len = strlen(r->where);
	memcpy(in.where, r->where, len);
	snprintf(in.where + len, sizeof(in.where) - len, "%s[%zu].", key, i);
	return in;
}

static int compare_uids(const void *a, const void *b)
{
	return uid_cmp(a, b);
}

/* Refuses records, each of which begins with a uid, if two have the same. */
static int refuse_twins(const struct reader *r, const void *records, size_t n, size_t size)
{
	struct uid *uids = mem_array(n, sizeof(*uids));
	bool twins = false;
	for (size_t i = 0; i < n; i++)
		memcpy(&uids[i], (const char *)records + i * size, sizeof(*uids));
	qsort(uids, n, sizeof(*uids), compare_uids);
	for (size_t i = 1; i < n; i++)
		twins |= uid_cmp(&uids[i - 1], &uids[i]) == 0;
	free(uids);
	return twins ? wrong(r, "pods", "each uid once") : 0;
}

static int read_container(
	const struct reader *r, const struct ordered_pod *p, struct ordered_container *ret)
{
	const char *id = json_text(r->object, "id");
	if (!id || strlen(id) != CONTAINER_ID_SIZE - 1 ||
		strspn(id, "0123456789abcdef") != CONTAINER_ID_SIZE - 1)
		return wrong(r, "id", "64 hex digits");
	for (const struct ordered_container *c = p->containers; c < ret; c++)
		if (strcmp(c->id, id) == 0)
			return wrong(r, "id", "each container once");
	memcpy(ret->id, id, CONTAINER_ID_SIZE);
	return READ(r, ret, ordered_container_fields);
}

/* Reads a pod; its containers go to *free_containers, which moves on. */
static int read_ordered_pod(
	const struct reader *r, struct ordered_pod *ret, struct ordered_container **free_containers)
{
	const cJSON *containers;
	int rc = read_uid(r, "uid", &ret->uid);
	if (!rc)
		rc = READ(r, ret, ordered_pod_fields);
	if (!rc)
		rc = find_array(
			r, "containers", ORDERS_CONTAINERS_MAX, &containers, &ret->ncontainers);
	if (rc)
		return rc;
	ret->containers = *free_containers;
	size_t i = 0;
	json_each(c, containers) {
		struct reader in = inner(r, "containers", i++, c);
		if ((rc = read_container(&in, ret, (*free_containers)++)) < 0)
			return rc;
	}
	return 0;
}

static int read_pods_of_orders(const struct reader *r, const cJSON *pods, struct orders *o)
{
	struct ordered_pod *pod = (struct ordered_pod *)(o + 1);
	struct ordered_container *container = (struct ordered_container *)(pod + o->npods);
	size_t i = 0;
	o->pods = pod;
	json_each(p, pods) {
		struct reader in = inner(r, "pods", i++, p);
		int rc = read_ordered_pod(&in, pod++, &container);
		if (rc)
			return rc;
	}
	return refuse_twins(r, o->pods, o->npods, sizeof(*pod));
}

static int read_orders_head(const struct reader *r, struct orders *o)
{
	int idle = json_get(r->object, "idle")
			   ? find_word(json_text(r->object, "idle"), idle_words, COUNT(idle_words))
			   : CPU_IDLE_NEVER;
	int rc = READ(r, o, orders_fields);
	if (rc)
		return rc;
	if (idle < 0)
		return wrong(r, "idle", "never, auto or always");
	o->idle = (enum cpu_idle)idle;
	if (o->hold_percent > 100)
		return wrong(r, "hold_percent", "100 at most");
	if (o->end_percent > 100 || (o->end_percent && o->end_percent <= o->hold_percent))
		return wrong(r, "end_percent", "more than hold_percent and 100 at most, or 0,");
	if (!o->lends && o->npods)
		return wrong(r, "pods", "none, where lends is not true,");
	return 0;
}

static size_t count_containers(const cJSON *pods)
{
	size_t n = 0;
	json_each(p, pods)
		json_each(c, json_array(p, "containers"))
			n++;
	return n;
}

static int read_orders(const struct reader *r, struct orders **ret)
{
	const cJSON *pods;
	size_t npods;
	int rc = find_array(r, "pods", ORDERS_PODS_MAX, &pods, &npods);
	if (rc)
		return rc;
	struct orders *o = mem_alloc(sizeof(*o) + npods * sizeof(*o->pods) +
				     count_containers(pods) * sizeof(*o->pods->containers));
	o->npods = npods;
	rc = read_orders_head(r, o);
	if (!rc)
		rc = read_pods_of_orders(r, pods, o);
	if (rc)
		orders_free(o);
	else
		*ret = o;
	return rc;
}

static int read_lacks(const struct reader *r, struct sample *s)
{
	const cJSON *lacks = json_get(r->object, "lacks");
	if (lacks && !cJSON_IsArray(lacks))
		return wrong(r, "lacks", "an array");
	json_each(l, lacks) {
		int bit = find_word(cJSON_GetStringValue(l), lack_words, COUNT(lack_words));
		if (bit >= 0) /* a newer agent may know more */
			s->lacks |= 1u << bit;
	}
	return 0;
}

static int read_sample_head(const struct reader *r, struct sample *s)
{
	struct uid boot;
	struct reader used = {.object = json_get(r->object, "used"), .e = r->e};
	memcpy(used.where, "sample: used.", sizeof("sample: used."));
	int rc = read_uid(r, "boot", &boot);
	if (!rc)
		rc = READ(r, s, sample_fields);
	if (!rc && used.object)
		rc = READ(&used, &s->used, used_fields);
	if (rc)
		return rc;
	uid_format(&boot, s->boot);
	s->has_used = used.object;
	return read_lacks(r, s);
}

static int read_sampled_pods(const struct reader *r, const cJSON *pods, struct sampled_pod *pod)
{
	size_t i = 0;
	json_each(p, pods) {
		struct reader in = inner(r, "pods", i, p);
		int rc = read_uid(&in, "uid", &pod[i].uid);
		if (!rc)
			rc = READ(&in, &pod[i], sampled_pod_fields);
		if (rc)
			return rc;
		i++;
	}
	return refuse_twins(r, pod, i, sizeof(*pod));
}

static int read_deed(const struct reader *r, struct deed *ret)
{
	const char *file = json_text(r->object, "file");
	int rc = read_uid(r, "uid", &ret->uid);
	if (!rc)
		rc = READ(r, ret, deed_fields);
	if (rc)
		return rc;
	if (!file)
		return 0;
	if (strlen(file) >= sizeof(ret->file) ||
		file[strspn(file, "abcdefghijklmnopqrstuvwxyz0123456789._")])
		return wrong(r, "file", "the name of a cgroup's file");
	memcpy(ret->file, file, strlen(file) + 1);
	return 0;
}

/* Reads deeds but for those of a kind that only a newer agent knows. */
static int read_deeds(const struct reader *r, const cJSON *deeds, struct deed *deed, size_t *ret_n)
{
	size_t i = 0;
	int64_t last = 0;
	json_each(d, deeds) {
		struct reader in = inner(r, "deeds", i++, d);
		int kind = find_word(json_text(d, "kind"), deed_names, DEED_KINDS);
		int rc = read_deed(&in, deed);
		if (rc)
			return rc;
		if (deed->number <= last)
			return wrong(&in, "number", "more than that of the one before it");
		last = deed->number;
		deed->kind = (enum deed_kind)kind;
		deed += kind >= 0;
		*ret_n += kind >= 0;
	}
	return 0;
}

static int read_sample(const struct reader *r, struct sample **ret)
{
	const cJSON *pods, *deeds;
	size_t npods, ndeeds;
	int rc = find_array(r, "pods", SAMPLE_PODS_MAX, &pods, &npods);
	if (!rc)
		rc = find_array(r, "deeds", SAMPLE_DEEDS_MAX, &deeds, &ndeeds);
	if (rc)
		return rc;
	struct sample *s =
		mem_alloc(sizeof(*s) + npods * sizeof(*s->pods) + ndeeds * sizeof(*s->deeds));
	struct sampled_pod *pod = (struct sampled_pod *)(s + 1);
	struct deed *deed = (struct deed *)(pod + npods);
	s->pods = pod;
	s->npods = npods;
	s->deeds = deed;
	rc = read_sample_head(r, s);
	if (!rc)
		rc = read_sampled_pods(r, pods, pod);
	if (!rc)
		rc = read_deeds(r, deeds, deed, &s->ndeeds);
	if (rc)
		sample_free(s);
	else
		*ret = s;
	return rc;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Parses a text of at most max bytes; r->where says what it is. */
static int open_text(struct json *j, struct slice text, size_t max, struct reader *r)
{
	if (text.len > max)
		return err_set(
			r->e, ERR_LIMIT, "%s%zu bytes are more than %zu", r->where, text.len, max);
	int rc = json_parse(j, text, &r->object, r->e);
	if (rc < 0)
		err_wrap(r->e, "%s", r->where);
	else if (!cJSON_IsObject(r->object))
		rc = err_set(r->e, ERR_INVALID, "%san object is needed", r->where);
	return rc;
}

int wire_read_orders(struct json *j, struct slice text, struct orders **ret, struct err *e)
{
	struct reader r = {.where = "orders: ", .e = e};
	int rc = open_text(j, text, ORDERS_BYTES_MAX, &r);
	if (!rc)
		rc = read_orders(&r, ret);
	json_reset(j);
	return rc;
}

int wire_read_sample(struct json *j, struct slice text, struct sample **ret, struct err *e)
{
	struct reader r = {.where = "sample: ", .e = e};
	int rc = open_text(j, text, SAMPLE_BYTES_MAX, &r);
	if (!rc)
		rc = read_sample(&r, ret);
	json_reset(j);
	return rc;
}
