/*
 * The parameters of one statement, in Postgres's binary format: values and one-dimensional arrays.
 *
 * Binary needs no quoting, so there is nothing to get wrong about names with commas or braces.
 * Every text is made valid UTF-8 (a bad byte becomes "?"), since one bad byte would make Postgres
 * refuse a whole batch, again and again.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_PARAMS_H
#define SLUICE_CONTROLLER_LEDGER_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/uid.h"

#define PARAMS_MAX 32

enum param_type { /* the OIDs that Postgres has for them, fixed for good */
	PARAM_BOOL = 16,
	PARAM_INT8 = 20,
	PARAM_INT4 = 23,
	PARAM_TEXT = 25,
	PARAM_TIME = 1184,
	PARAM_UUID = 2950,
	PARAM_JSONB = 3802,
};

struct param {
	struct buf bytes;
	enum param_type type; /* of the value, or of each element */
	bool is_array;
	uint32_t count; /* elements */
};

struct params {
	struct param param[PARAMS_MAX];
	int count;
};

struct params *params_new(void);
void params_free(struct params *p);

void params_text(struct params *p, const char *s);
void params_uuid(struct params *p, const struct uid *v);
void params_int8(struct params *p, int64_t v);

/* Adds arrays as the next parameters, and returns the first, with the others behind it. A letter
 * each: b bool, i int4, j jsonb, n int8, t text, u uuid, z time. Elements may be put in until the
 * statement is sent. */
struct param *params_columns(struct params *p, const char *letters);
void put_bool(struct param *a, bool v);
void put_int4(struct param *a, int32_t v);
void put_int8(struct param *a, int64_t v);
void put_text(struct param *a, const char *s); /* NULL: NULL */
void put_uuid(struct param *a, const struct uid *v);
void put_time(struct param *a, int64_t ms); /* wall clock; 0: NULL; cut to 1970 to 9999 */
void put_json(struct param *a, struct slice text);
void put_null(struct param *a);

struct pg_conn;
struct pg_result;
/* Send a statement; prepare it under a name; send one that was prepared with parameters of these
 * types. Results will be binary. False: the connection broke. */
bool params_send(struct params *p, struct pg_conn *conn, const char *sql);
bool params_send_prepare(
	const struct params *p, struct pg_conn *conn, const char *name, const char *sql);
bool params_send_prepared(struct params *p, struct pg_conn *conn, const char *name);

/* ---- Reading results: the binary forms of the same types ------------------------------------- */

int32_t field_int4(const struct pg_result *r, int row, int column);
int64_t field_int8(const struct pg_result *r, int row, int column);
int64_t field_time(const struct pg_result *r, int row, int column); /* ms; NULL: 0 */
bool field_bool(const struct pg_result *r, int row, int column);
bool field_null(const struct pg_result *r, int row, int column);
const char *field_text(const struct pg_result *r, int row, int column); /* lives as r does */
const char *field_text_or_null(const struct pg_result *r, int row, int column);
struct uid field_uuid(const struct pg_result *r, int row, int column);

#endif
