#include "node/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

/* Describes a member of a record: what writes and what reads go by the same rows. A number of its
 * fallback is not written, nor is false, an empty name, a set or an array without anything in it. */
struct field {
	const char *key;
	enum { NUMBER, FLAG, UID, NAME, WORD, SET, ROWS } kind;
	size_t at;		   /* in the record */
	int64_t fallback, least;   /* of NUMBER; and what a WORD is that is absent, or a new one */
	size_t shortest, longest;  /* of NAME, without the NUL */
	const char *characters;	   /* of NAME: such as may stand in it */
	const char *needed;	   /* of NAME: what it has to be, for a sentence */
	const char *const *words;  /* of WORD, by number, and of SET, by bit */
	size_t nwords;		   /* less than an unsigned has bits */
	const struct table *table; /* of ROWS */
	size_t count_at;	   /* of ROWS: in the record, how many */
};

/* Describes a record: its size, how many of them may be in one array, its members. */
struct table {
	size_t size, max;
	const struct field *fields; /* up to one without a key */
};

#define NEEDED INT64_MIN /* a fallback: the number may not be absent */
#define AT(record, member) .at = offsetof(struct record, member)
#define COUNT_AT(record, member) .count_at = offsetof(struct record, member)
#define HEX "0123456789abcdef"
enum { ID_LENGTH = CONTAINER_ID_SIZE - 1, BOOT_LENGTH = UID_TEXT_SIZE - 1 };
enum { FILE_LENGTH = sizeof(((struct deed *)0)->file) - 1 };

static const struct field container_fields[] = {
	{"id", NAME, AT(ordered_container, id), .shortest = ID_LENGTH, .longest = ID_LENGTH,
		.characters = HEX, .needed = "a name of 64 hex digits"},
	{"cpu", NUMBER, AT(ordered_container, asked.cpu_milli)},
	{"memory", NUMBER, AT(ordered_container, asked.memory_bytes)},
	{0},
};
static const struct table containers = {
	sizeof(struct ordered_container), ORDERS_CONTAINERS_MAX, container_fields};

static const struct field ordered_fields[] = {
	{"uid", UID, AT(ordered_pod, uid)},
	{"cpu", NUMBER, AT(ordered_pod, asked.cpu_milli)},
	{"memory", NUMBER, AT(ordered_pod, asked.memory_bytes)},
	{"stays", FLAG, AT(ordered_pod, stays)},
	{"containers", ROWS, AT(ordered_pod, containers), .table = &containers,
		COUNT_AT(ordered_pod, ncontainers)},
	{0},
};
static const struct table ordered_pods = {
	sizeof(struct ordered_pod), ORDERS_PODS_MAX, ordered_fields};

static const char *const idle_words[] = {"never", "auto", "always"};

static const struct field orders_fields[] = {
	{"generation", NUMBER, AT(orders, generation), .fallback = NEEDED, .least = 1},
	{"lends", FLAG, AT(orders, lends)},
	{"limits", FLAG, AT(orders, limits)},
	{"suppress", FLAG, AT(orders, suppress)},
	{"cpu", NUMBER, AT(orders, capacity.cpu_milli)},
	{"memory", NUMBER, AT(orders, capacity.memory_bytes)},
	{"reserved_cpu", NUMBER, AT(orders, reserved.cpu_milli)},
	{"reserved_memory", NUMBER, AT(orders, reserved.memory_bytes)},
	{"suppress_percent", NUMBER, AT(orders, suppress_percent)},
	{"suppress_min_percent", NUMBER, AT(orders, suppress_min_percent)},
	{"suppress_rise_percent", NUMBER, AT(orders, suppress_rise_percent)},
	{"idle", WORD, AT(orders, idle), .fallback = CPU_IDLE_NEVER, .words = idle_words,
		.nwords = 3},
	{"hold_percent", NUMBER, AT(orders, hold_percent)},
	{"end_percent", NUMBER, AT(orders, end_percent)},
	{"pods", ROWS, AT(orders, pods), .table = &ordered_pods, COUNT_AT(orders, npods)},
	{0},
};
static const struct table orders_table = {sizeof(struct orders), 1, orders_fields};

static const struct field sampled_fields[] = {
	{"uid", UID, AT(sampled_pod, uid)},
	{"cpu", NUMBER, AT(sampled_pod, used.cpu_milli), .fallback = NEEDED},
	{"memory", NUMBER, AT(sampled_pod, used.memory_bytes), .fallback = NEEDED},
	{"quota", NUMBER, AT(sampled_pod, quota_milli), .fallback = -1},
	{"throttled_ms", NUMBER, AT(sampled_pod, throttled_ms)},
	{"over", FLAG, AT(sampled_pod, over)},
	{0},
};
static const struct table sampled_pods = {
	sizeof(struct sampled_pod), SAMPLE_PODS_MAX, sampled_fields};

static const struct field deed_fields[] = {
	{"number", NUMBER, AT(deed, number), .fallback = NEEDED, .least = 1},
	{"kind", WORD, AT(deed, kind), .fallback = DEED_KINDS, .words = deed_names,
		.nwords = DEED_KINDS},
	{"uid", UID, AT(deed, uid)},
	{"file", NAME, AT(deed, file), .longest = FILE_LENGTH,
		.characters = "abcdefghijklmnopqrstuvwxyz0123456789._",
		.needed = "the name of a cgroup's file"},
	{"value", NUMBER, AT(deed, value)},
	{0},
};
static const struct table deeds = {sizeof(struct deed), SAMPLE_DEEDS_MAX, deed_fields};

const char *const lack_names[LACKS] = {"tier", "cpu", "memory", "hold", "end", "idle", "pressure"};

static const struct field sample_fields[] = {
	{"boot", NAME, AT(sample, boot), .shortest = BOOT_LENGTH, .longest = BOOT_LENGTH,
		.characters = HEX "-", .needed = "a uid"},
	{"number", NUMBER, AT(sample, number), .fallback = NEEDED, .least = 1},
	{"window_ms", NUMBER, AT(sample, window_ms), .fallback = NEEDED},
	{"cpu", NUMBER, AT(sample, used.cpu_milli), .fallback = -1},
	{"memory", NUMBER, AT(sample, used.memory_bytes), .fallback = -1},
	{"pods_cpu", NUMBER, AT(sample, pods_used.cpu_milli), .fallback = -1},
	{"pods_memory", NUMBER, AT(sample, pods_used.memory_bytes), .fallback = -1},
	{"memory_total", NUMBER, AT(sample, memory_total), .fallback = -1},
	{"memory_available", NUMBER, AT(sample, memory_available), .fallback = -1},
	{"pressure_us", NUMBER, AT(sample, pressure_us), .fallback = -1},
	{"may_cpu", NUMBER, AT(sample, may_milli), .fallback = -1},
	{"lacks", SET, AT(sample, lacks), .words = lack_names, .nwords = LACKS},
	{"orders", NUMBER, AT(sample, orders)},
	{"pods", ROWS, AT(sample, pods), .table = &sampled_pods, COUNT_AT(sample, npods)},
	{"deeds", ROWS, AT(sample, deeds), .table = &deeds, COUNT_AT(sample, ndeeds)},
	{"deeds_lost", NUMBER, AT(sample, deeds_lost)},
	{0},
};
static const struct table sample_table = {sizeof(struct sample), 1, sample_fields};

_Static_assert(LACKS_ALL == (1 << LACKS) - 1, "a word for each bit");
_Static_assert(sizeof(enum cpu_idle) == sizeof(unsigned), "a WORD is an unsigned");
_Static_assert(sizeof(enum deed_kind) == sizeof(unsigned), "a WORD is an unsigned");
_Static_assert(offsetof(struct ordered_pod, uid) == 0, "has_twins()");
_Static_assert(offsetof(struct sampled_pod, uid) == 0, "has_twins()");

/* ---- writing --------------------------------------------------------------------------------- */

static void put_fields(struct json_writer *w, const struct table *t, const char *record);

static void put_set(struct json_writer *w, const struct field *f, unsigned set)
{
	jw_array(w, f->key);
	for (size_t i = 0; i < f->nwords; i++)
		if (set >> i & 1)
			jw_text(w, NULL, f->words[i]);
	jw_end(w);
}

static void put_rows(struct json_writer *w, const struct field *f, const char *rows, size_t n)
{
	jw_array(w, f->key);
	for (size_t i = 0; i < n; i++) {
		jw_object(w, NULL);
		put_fields(w, f->table, rows + i * f->table->size);
		jw_end(w);
	}
	jw_end(w);
}

static void put_field(struct json_writer *w, const struct field *f, const char *record)
{
	const void *member = record + f->at;
	switch (f->kind) {
	case NUMBER:
		if (*(const int64_t *)member != f->fallback)
			jw_int(w, f->key, *(const int64_t *)member);
		return;
	case FLAG:
		if (*(const bool *)member)
			jw_bool(w, f->key, true);
		return;
	case UID:
		uid_put(w, f->key, member);
		return;
	case NAME:
		if (*(const char *)member)
			jw_text(w, f->key, member);
		return;
	case WORD:
		if (*(const unsigned *)member < f->nwords)
			jw_text(w, f->key, f->words[*(const unsigned *)member]);
		return;
	case SET:
		if (*(const unsigned *)member)
			put_set(w, f, *(const unsigned *)member);
		return;
	case ROWS:
		if (*(const size_t *)(const void *)(record + f->count_at))
			put_rows(w, f, *(const char *const *)member,
				*(const size_t *)(const void *)(record + f->count_at));
		return;
	}
}

static void put_fields(struct json_writer *w, const struct table *t, const char *record)
{
	for (const struct field *f = t->fields; f->key; f++)
		put_field(w, f, record);
}

void wire_put_orders(const struct orders *o, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	put_fields(&w, &orders_table, (const char *)o);
	jw_close(&w);
}

void wire_put_sample(const struct sample *s, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	struct sample written = *s;
	if (!s->has_used)
		written.used = (struct load){-1, -1};
	put_fields(&w, &sample_table, (const char *)&written);
	jw_close(&w);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Where records of arrays go: what is left of the one block. */
struct room {
	char *free;
	struct err *e;
};

static int read_fields(const struct table *t, const cJSON *object, char *record, struct room *room);

static int wrong(struct err *e, const char *key, const char *needed)
{
	return err_set(e, ERR_INVALID, "%s: %s is needed", key, needed);
}

static int read_number(const cJSON *object, const struct field *f, int64_t *ret, struct err *e)
{
	int64_t number;
	int rc = json_i64(object, f->key, &number);
	if (rc == ERR_GONE && f->fallback != NEEDED)
		number = f->fallback;
	else if (rc < 0 || number < f->least)
		return wrong(e, f->key,
			f->least ? "a whole number above 0" : "a whole number, 0 or above,");
	*ret = number;
	return 0;
}

static int read_name(const cJSON *object, const struct field *f, char *ret, struct err *e)
{
	const char *text = json_text(object, f->key);
	size_t len = text ? strlen(text) : 0;
	if (len < f->shortest || len > f->longest || (len && strspn(text, f->characters) != len))
		return wrong(e, f->key, f->needed);
	memcpy(ret, len ? text : "", len + 1);
	return 0;
}

static unsigned find_word(const struct field *f, const char *text)
{
	for (unsigned i = 0; text && i < f->nwords; i++)
		if (strcmp(text, f->words[i]) == 0)
			return i;
	return (unsigned)f->nwords;
}

/* Reads words; the other end may know more of them. */
static int read_set(const cJSON *object, const struct field *f, unsigned *ret, struct err *e)
{
	const cJSON *words = json_get(object, f->key);
	if (words && !cJSON_IsArray(words))
		return wrong(e, f->key, "an array");
	json_each(word, words)
		*ret |= 1u << find_word(f, cJSON_GetStringValue(word));
	*ret &= (1u << f->nwords) - 1;
	return 0;
}

static int read_rows(const cJSON *object, const struct field *f, char *record, struct room *room)
{
	const cJSON *rows = json_get(object, f->key);
	size_t n = 0, i = 0;
	if (rows && !cJSON_IsArray(rows))
		return wrong(room->e, f->key, "an array");
	json_each(row, rows)
		n++;
	if (n > f->table->max)
		return err_set(
			room->e, ERR_LIMIT, "%s: %zu are more than %zu", f->key, n, f->table->max);
	char *to = room->free;
	room->free += n * f->table->size;
	memcpy(record + f->at, &to, sizeof(to));
	memcpy(record + f->count_at, &n, sizeof(n));
	json_each(row, rows) {
		int rc = read_fields(f->table, row, to, room);
		if (rc < 0) {
			err_wrap(room->e, "%s[%zu]", f->key, i);
			return rc;
		}
		to += f->table->size;
		i++;
	}
	return 0;
}

static int read_field(const struct field *f, const cJSON *object, char *record, struct room *room)
{
	void *member = record + f->at;
	unsigned word;
	switch (f->kind) {
	case NUMBER:
		return read_number(object, f, member, room->e);
	case FLAG:
		return json_bool(object, f->key, member) == ERR_INVALID
			       ? wrong(room->e, f->key, "true or false")
			       : 0;
	case UID:
		return uid_parse(json_text(object, f->key), member)
			       ? 0
			       : wrong(room->e, f->key, "a uid");
	case NAME:
		return read_name(object, f, member, room->e);
	case WORD:
		word = find_word(f, json_text(object, f->key));
		*(unsigned *)member = word < f->nwords ? word : (unsigned)f->fallback;
		return 0;
	case SET:
		return read_set(object, f, member, room->e);
	case ROWS:
		return read_rows(object, f, record, room);
	}
	return 0;
}

static int read_fields(const struct table *t, const cJSON *object, char *record, struct room *room)
{
	int rc = 0;
	for (const struct field *f = t->fields; f->key && rc == 0; f++)
		rc = read_field(f, object, record, room);
	return rc;
}

/* Counts the bytes of a record's arrays, up to what may be read of them. */
static size_t measure(const struct table *t, const cJSON *object)
{
	size_t bytes = 0;
	for (const struct field *f = t->fields; f->key; f++) {
		size_t n = 0;
		if (f->kind != ROWS)
			continue;
		json_each(row, json_array(object, f->key))
			if (n++ < f->table->max)
				bytes += f->table->size + measure(f->table, row);
	}
	return bytes;
}

/* ---- promises -------------------------------------------------------------------------------- */

static int by_uid(const void *a, const void *b)
{
	return uid_cmp(a, b);
}

/* Tells whether two records, each of which begins with a uid, have the same. */
static bool has_twins(const void *records, size_t n, size_t size)
{
	struct uid *uids = mem_array(n, sizeof(*uids));
	bool twins = false;
	for (size_t i = 0; i < n; i++)
		memcpy(&uids[i], (const char *)records + i * size, sizeof(*uids));
	qsort(uids, n, sizeof(*uids), by_uid);
	for (size_t i = 1; i < n; i++)
		twins |= uid_cmp(&uids[i - 1], &uids[i]) == 0;
	free(uids);
	return twins;
}

static bool names_container_twice(const struct ordered_pod *p)
{
	for (size_t i = 0; i < p->ncontainers; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(p->containers[i].id, p->containers[k].id) == 0)
				return true;
	return false;
}

static int check_orders(void *record, struct err *e)
{
	const struct orders *o = record;
	if (o->hold_percent > 100)
		return wrong(e, "hold_percent", "100 at most");
	if (o->end_percent > 100 || (o->end_percent && o->end_percent <= o->hold_percent))
		return wrong(e, "end_percent", "0, or more than hold_percent and 100 at most,");
	if (!o->lends && o->npods)
		return wrong(e, "lends", "true where there are pods");
	if (has_twins(o->pods, o->npods, sizeof(*o->pods)))
		return wrong(e, "pods", "each uid once");
	for (size_t i = 0; i < o->npods; i++)
		if (names_container_twice(&o->pods[i]))
			return err_set(
				e, ERR_INVALID, "pods[%zu]: containers: each id once is needed", i);
	return 0;
}

/* Checks a sample, and drops deeds of a kind that only a newer agent knows. */
static int check_sample(void *record, struct err *e)
{
	struct sample *s = record;
	struct deed *deed = (struct deed *)s->deeds; /* of the block that was just made */
	int64_t last = 0;
	size_t kept = 0;
	for (size_t i = 0; i < s->ndeeds; i++) {
		if (deed[i].number <= last)
			return wrong(e, "deeds", "an order by number");
		last = deed[i].number;
		if (deed[i].kind < DEED_KINDS)
			deed[kept++] = deed[i];
	}
	s->ndeeds = kept;
	s->has_used = s->used.cpu_milli >= 0 && s->used.memory_bytes >= 0;
	if (!s->has_used)
		s->used = (struct load){0, 0};
	return has_twins(s->pods, s->npods, sizeof(*s->pods)) ? wrong(e, "pods", "each uid once")
							      : 0;
}

/* What is read as a whole: at most so many bytes of text. */
struct document {
	const char *name;
	size_t longest;
	const struct table *table;
	int (*check)(void *record, struct err *e);
};

static const struct document orders_document = {
	"orders", ORDERS_BYTES_MAX, &orders_table, check_orders};
static const struct document sample_document = {
	"sample", SAMPLE_BYTES_MAX, &sample_table, check_sample};

/* Reads a record and its arrays: one block, which is the caller's. */
static int read_document(
	const struct document *d, struct json *j, struct slice text, void **ret, struct err *e)
{
	const cJSON *object;
	char *record = NULL;
	int rc = text.len <= d->longest ? json_parse(j, text, &object, e)
					: err_set(e, ERR_LIMIT, "%zu bytes are more than %zu",
						  text.len, d->longest);
	if (rc == 0) {
		record = mem_alloc(d->table->size + measure(d->table, object));
		struct room room = {record + d->table->size, e};
		rc = read_fields(d->table, object, record, &room);
	}
	if (rc == 0)
		rc = d->check(record, e);
	json_reset(j);
	if (rc == 0) {
		*ret = record;
		return 0;
	}
	free(record);
	err_wrap(e, "%s", d->name);
	return rc;
}

int wire_read_orders(struct json *j, struct slice text, struct orders **ret, struct err *e)
{
	void *orders;
	int rc = read_document(&orders_document, j, text, &orders, e);
	if (rc == 0)
		*ret = orders;
	return rc;
}

int wire_read_sample(struct json *j, struct slice text, struct sample **ret, struct err *e)
{
	void *sample;
	int rc = read_document(&sample_document, j, text, &sample, e);
	if (rc == 0)
		*ret = sample;
	return rc;
}
