/* LEASE, which is one round after a look at the schema (schema.c), MIGRATE, which is that look, and
 * RESIGN. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <libpq-fe.h>

#include "base/mem.h"
#include "base/monotonic.h"
#include "base/must.h"
#include "controller/ledger/pg_priv.h"
#include "controller/ledger/sql.h"

/* Draws sixteen bytes that nobody can guess, in hex. */
static void draw_key(char ret[33])
{
	unsigned char bytes[16];
	must(getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

static void ask_story_key(struct pg *pg)
{
	char drawn[33];
	struct params *p = pg_params(pg);
	draw_key(drawn);
	params_int8(p, pg_session(pg));
	params_text(p, drawn);
	pg_conn_add(pg->conn, SQL_STORY_KEY, p);
}

/* Keeps when the version of another holder's lease was seen first. */
static void lease_seen(struct pg *pg, const char *version)
{
	struct lease_look *look = &pg->lease_look;
	if (strcmp(look->version, version) == 0)
		return;
	snprintf(look->version, sizeof(look->version), "%s", version);
	look->since_ms = monotonic_ms();
}

/* Tells whether the holder has not renewed the lease for twice its length, taken to be ours. A
 * holder renews three times while it lasts. expires_at does not do: the clock that it was written
 * by may have been set back since. Too soon would do no harm, for the epoch keeps the old leader
 * from writing. */
static bool lease_stands_still(const struct pg *pg, int64_t lease_ms)
{
	const struct lease_look *look = &pg->lease_look;
	return look->version[0] != '\0' && monotonic_ms() - look->since_ms > 2 * lease_ms;
}

static void lease_expire(struct pg *pg)
{
	struct params *p = pg_params(pg);
	params_text(p, pg->lease_look.version);
	pg_conn_add(pg->conn, SQL_LEASE_EXPIRE, p);
}

/* Asks for the lease, or only looks it up where a program of the version before leads: our
 * statements may need columns that are not there yet. */
static void lease_ask(struct pg *pg, struct request *r)
{
	request_begin_round(pg, r, STEP_LEASE);
	if (pg->schema_fits) {
		struct params *p = pg_params(pg);
		params_int8(p, pg_session(pg));
		params_text(p, pg->options.identity);
		params_int8(p, r->lease_ms);
		params_text(p, pg->session_locked ? "t" : "f");
		params_int8(p, r->epoch ? r->epoch : r->epoch_seen);
		if (r->epoch) {
			params_int8(p, pg_acknowledged(pg, r->epoch));
			params_text(p, r->settled ? "t" : "f");
		} else {
			params_int8(p, MIGRATIONS_COUNT);
		}
		pg_conn_add(pg->conn, r->epoch ? SQL_LEASE_RENEW : SQL_LEASE_TAKE, p);
		ask_story_key(pg);
	}
	if (!r->epoch && lease_stands_still(pg, r->lease_ms))
		lease_expire(pg);
	pg_conn_add(pg->conn, SQL_LEASE_LOOK, pg_params(pg));
	pg_conn_go(pg->conn);
}

/* Reads the key: the first 16 hex digits, and the other 16. */
static void read_key(const struct pg_result *key, uint64_t ret[2])
{
	char half[17] = {0};
	must(PQntuples(key) == 1 && strlen(field_text(key, 0, 0)) == 32);
	for (size_t i = 0; i < 2; i++) {
		memcpy(half, field_text(key, 0, 0) + 16 * i, 16);
		ret[i] = strtoull(half, NULL, 16);
	}
}

/* Answers from the results: the settings; what was taken or renewed, and the key, if the schema
 * fits; the lease as it is. A leader goes on where a newer program has changed the schema (MIGRATE
 * leaves in place what it reads and writes); a standby says that it will not follow. */
static void lease_answer(struct pg *pg, struct round *round)
{
	const struct pg_result *look = round->result[round->count - 1];
	const struct pg_result *held = pg->schema_fits ? round->result[1] : NULL;
	struct ledger_lease lease = {.held = held && PQntuples(held) > 0};
	if (!lease.held && PQntuples(look) && field_int4(look, 0, 3) > MIGRATIONS_COUNT) {
		schema_refuse_newer(pg, field_int4(look, 0, 3));
		return;
	}
	if (PQntuples(look)) {
		lease.epoch = field_int8(look, 0, 0);
		snprintf(lease.holder, sizeof(lease.holder), "%s", field_text(look, 0, 1));
		lease_seen(pg, lease.held ? "" : field_text(look, 0, 2));
		lease.left_ms = field_int8(look, 0, 4);
	}
	if (lease.held) {
		pg_acknowledge(pg, lease.epoch, field_int8(held, 0, 0));
		lease.moved = field_bool(held, 0, 1);
		read_key(round->result[2], lease.story_key);
	}
	pg_attach(pg, lease.held ? lease.epoch : 0);
	request_answer(pg, (struct pg_answer){.outcome = LEDGER_DONE, .lease = &lease});
}

static void lease_step(struct pg *pg, struct request *r, struct round *round)
{
	if (r->step == STEP_LEASE)
		lease_answer(pg, round);
	else if (schema_step(pg, r, round))
		lease_ask(pg, r);
}

static const struct pg_query LEASE = {.name = "lease", .step = lease_step};

void pg_lease(struct pg *pg, int64_t epoch, int64_t epoch_seen, int64_t lease_ms, bool settled,
	const struct pg_asker *asker)
{
	pg_line_up(pg, (struct request){.query = &LEASE,
			       .epoch = epoch,
			       .epoch_seen = epoch_seen,
			       .lease_ms = lease_ms,
			       .settled = settled,
			       .asker = *asker});
}

/* ---- MIGRATE ----------------------------------------------------------------------------------
 */

static void migrate_step(struct pg *pg, struct request *r, struct round *round)
{
	if (!round)
		pg->schema_fits = false; /* looked at anew: no answer from inside the call */
	if (schema_step(pg, r, round))
		request_answer(pg, (struct pg_answer){.outcome = LEDGER_DONE});
}

const struct pg_query PG_MIGRATE = {.name = "migrate", .step = migrate_step};

void pg_migrate(struct pg *pg, const struct pg_asker *asker)
{
	pg_line_up(pg, (struct request){.query = &PG_MIGRATE, .asker = *asker});
}

/* ---- RESIGN -----------------------------------------------------------------------------------
 */

static const struct pg_query RESIGN = {.name = "resign", .sql = SQL_LEASE_RESIGN};

static void on_resigned(const struct pg_answer *a, void *ctx)
{
	if (a->outcome == LEDGER_DONE)
		pg_attach(ctx, 0);
}

void pg_resign(struct pg *pg, int64_t epoch)
{
	pg_ask(pg, &RESIGN, request_params(pg, epoch), &(struct pg_asker){on_resigned, pg, 0});
}
