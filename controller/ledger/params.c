#include "controller/ledger/params.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "base/mem.h"
#include "base/must.h"

/* The most of one parameter. A batch is bounded by its maker; a gigabyte is where Postgres itself
 * ends. */
#define PARAM_BYTES_MAX ((size_t)1 << 30)

#define ARRAY_HEADER 20
#define POSTGRES_EPOCH_MS 946684800000 /* 2000-01-01, in Unix time */
#define YEAR_10000_MS 253402300800000

struct params *params_new(void)
{
	return mem_alloc(sizeof(struct params));
}

void params_free(struct params *p)
{
	if (!p)
		return;
	for (int i = 0; i < p->count; i++)
		buf_done(&p->param[i].bytes);
	free(p);
}

static struct param *params_next(struct params *p, enum param_type type)
{
	must(p->count < PARAMS_MAX);
	struct param *a = &p->param[p->count++];
	*a = (struct param){.type = type};
	buf_init(&a->bytes, PARAM_BYTES_MAX);
	return a;
}

static void add_int4(struct param *a, int32_t v)
{
	uint32_t be = htobe32((uint32_t)v);
	buf_add(&a->bytes, &be, sizeof(be));
}

static void add_int8(struct param *a, int64_t v)
{
	uint64_t be = htobe64((uint64_t)v);
	buf_add(&a->bytes, &be, sizeof(be));
}

static void add_utf8(struct param *a, const char *s)
{
	struct slice left = slice_of(s);
	if (slice_utf8(left)) {
		buf_add(&a->bytes, left.ptr, left.len);
		return;
	}
	for (size_t len; left.len > 0; left = (struct slice){left.ptr + len, left.len - len}) {
		len = slice_utf8_character(left);
		if (len == 0)
			buf_putc(&a->bytes, '?');
		else
			buf_add(&a->bytes, left.ptr, len);
		len += len == 0;
	}
}

void params_text(struct params *p, const char *s)
{
	add_utf8(params_next(p, PARAM_TEXT), s);
}

void params_uuid(struct params *p, const struct uid *v)
{
	buf_add(&params_next(p, PARAM_UUID)->bytes, v->byte, sizeof(v->byte));
}

void params_int8(struct params *p, int64_t v)
{
	add_int8(params_next(p, PARAM_INT8), v);
}

/* ---- Arrays: dimensions, has NULLs, type, then (length, first index), then the elements -------
 */

static enum param_type type_of(char letter)
{
	static const struct {
		char letter;
		enum param_type type;
	} types[] = {{'b', PARAM_BOOL}, {'i', PARAM_INT4}, {'j', PARAM_JSONB}, {'n', PARAM_INT8},
		{'t', PARAM_TEXT}, {'u', PARAM_UUID}, {'z', PARAM_TIME}};
	size_t i = 0;
	while (types[i].letter != letter)
		must(++i < sizeof(types) / sizeof(*types));
	return types[i].type;
}

struct param *params_columns(struct params *p, const char *letters)
{
	static const char header[ARRAY_HEADER];
	struct param *first = &p->param[p->count];
	for (; *letters; letters++) {
		struct param *a = params_next(p, type_of(*letters));
		a->is_array = true;
		buf_add(&a->bytes, header, sizeof(header));
	}
	return first;
}

static void array_seal(struct param *a)
{
	const uint32_t header[ARRAY_HEADER / 4] = {
		htobe32(1), htobe32(1), htobe32((uint32_t)a->type), htobe32(a->count), htobe32(1)};
	must(!a->bytes.failed);
	memcpy(a->bytes.ptr, header, sizeof(header));
}

static void put_size(struct param *a, size_t size)
{
	a->count++;
	add_int4(a, (int32_t)size);
}

void put_bool(struct param *a, bool v)
{
	put_size(a, 1);
	buf_putc(&a->bytes, v);
}

void put_int4(struct param *a, int32_t v)
{
	put_size(a, sizeof(v));
	add_int4(a, v);
}

void put_int8(struct param *a, int64_t v)
{
	put_size(a, sizeof(v));
	add_int8(a, v);
}

void put_null(struct param *a)
{
	a->count++;
	add_int4(a, -1);
}

void put_text(struct param *a, const char *s)
{
	if (!s) {
		put_null(a);
		return;
	}
	put_size(a, strlen(s)); /* "?" for a byte: the length stays */
	add_utf8(a, s);
}

void put_uuid(struct param *a, const struct uid *v)
{
	put_size(a, sizeof(v->byte));
	buf_add(&a->bytes, v->byte, sizeof(v->byte));
}

void put_time(struct param *a, int64_t ms)
{
	if (!ms) {
		put_null(a);
		return;
	}
	ms = ms < 1 ? 1 : ms;
	ms = ms >= YEAR_10000_MS ? YEAR_10000_MS - 1 : ms;
	put_int8(a, (ms - POSTGRES_EPOCH_MS) * 1000);
}

void put_json(struct param *a, struct slice text)
{
	put_size(a, text.len + 1);
	buf_putc(&a->bytes, 1); /* the version of jsonb's binary form */
	buf_add(&a->bytes, text.ptr, text.len);
}

/* ---- Sending ----------------------------------------------------------------------------------
 */

static Oid type_of_array(enum param_type t)
{
	switch (t) {
	case PARAM_BOOL:
		return 1000;
	case PARAM_INT8:
		return 1016;
	case PARAM_INT4:
		return 1007;
	case PARAM_TEXT:
		return 1009;
	case PARAM_TIME:
		return 1185;
	case PARAM_UUID:
		return 2951;
	case PARAM_JSONB:
		return 3807;
	}
	must_not_get_here();
}

/* Parameters as libpq takes them. */
struct wire {
	Oid types[PARAMS_MAX];
	const char *values[PARAMS_MAX];
	int lengths[PARAMS_MAX], formats[PARAMS_MAX];
};

static void params_types(const struct params *p, Oid types[PARAMS_MAX])
{
	for (int i = 0; i < p->count; i++)
		types[i] = p->param[i].is_array ? type_of_array(p->param[i].type)
						: (Oid)p->param[i].type;
}

static void params_wire(struct params *p, struct wire *w)
{
	params_types(p, w->types);
	for (int i = 0; i < p->count; i++) {
		struct param *a = &p->param[i];
		if (a->is_array)
			array_seal(a);
		must(!a->bytes.failed);
		w->values[i] = buf_text(&a->bytes);
		w->lengths[i] = (int)a->bytes.len;
		w->formats[i] = 1;
	}
}

bool params_send(struct params *p, struct pg_conn *conn, const char *sql)
{
	struct wire w;
	params_wire(p, &w);
	return PQsendQueryParams(conn, sql, p->count, w.types, w.values, w.lengths, w.formats, 1);
}

bool params_send_prepare(
	const struct params *p, struct pg_conn *conn, const char *name, const char *sql)
{
	Oid types[PARAMS_MAX];
	params_types(p, types);
	return PQsendPrepare(conn, name, sql, p->count, types);
}

bool params_send_prepared(struct params *p, struct pg_conn *conn, const char *name)
{
	struct wire w;
	params_wire(p, &w);
	return PQsendQueryPrepared(conn, name, p->count, w.values, w.lengths, w.formats, 1);
}

/* ---- Reading ----------------------------------------------------------------------------------
 */

int32_t field_int4(const struct pg_result *r, int row, int column)
{
	uint32_t be;
	must(PQgetlength(r, row, column) == sizeof(be));
	memcpy(&be, PQgetvalue(r, row, column), sizeof(be));
	return (int32_t)be32toh(be);
}

int64_t field_int8(const struct pg_result *r, int row, int column)
{
	uint64_t be;
	must(PQgetlength(r, row, column) == sizeof(be));
	memcpy(&be, PQgetvalue(r, row, column), sizeof(be));
	return (int64_t)be64toh(be);
}

int64_t field_time(const struct pg_result *r, int row, int column)
{
	if (field_null(r, row, column))
		return 0;
	return field_int8(r, row, column) / 1000 + POSTGRES_EPOCH_MS;
}

bool field_bool(const struct pg_result *r, int row, int column)
{
	must(PQgetlength(r, row, column) == 1);
	return *PQgetvalue(r, row, column) != 0;
}

bool field_null(const struct pg_result *r, int row, int column)
{
	return PQgetisnull(r, row, column);
}

const char *field_text(const struct pg_result *r, int row, int column)
{
	return PQgetvalue(r, row, column);
}

const char *field_text_or_null(const struct pg_result *r, int row, int column)
{
	return field_null(r, row, column) ? NULL : field_text(r, row, column);
}

struct uid field_uuid(const struct pg_result *r, int row, int column)
{
	struct uid uid;
	must(PQgetlength(r, row, column) == sizeof(uid.byte));
	memcpy(uid.byte, PQgetvalue(r, row, column), sizeof(uid.byte));
	return uid;
}
