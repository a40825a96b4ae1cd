/*
 * The SQL of the ledger, as it stands in sql/ and migrations/ (embed.cmake compiles it in). What a
 * statement takes and answers is said at the top of its file.
 */
#ifndef SLUICE_CONTROLLER_LEDGER_SQL_H
#define SLUICE_CONTROLLER_LEDGER_SQL_H

#include <stdbool.h>

extern const char SQL_SETTINGS[], SQL_LIMITS[], SQL_ATTACH[], SQL_SESSION_LOCK[];
extern const char SQL_SCHEMA_STATE[], SQL_SCHEMA_VERSION[], SQL_SCHEMA_ADDITIONS[];
extern const char SQL_LEASE_TAKE[], SQL_LEASE_RENEW[], SQL_LEASE_LOOK[], SQL_LEASE_RESIGN[],
	SQL_STORY_KEY[], SQL_LEASE_EXPIRE[];
extern const char SQL_LOAD[], SQL_RECALL[], SQL_RECALL_SPENT[], SQL_RECALL_DURATIONS[], SQL_COST[];
extern const char SQL_REPORT[], SQL_RUNS[], SQL_USAGE[], SQL_SPANS[], SQL_COST_HORIZON[];
extern const char SQL_BATCH_HOLDS[], SQL_BATCH_RESIZES[], SQL_BATCH_ROWS[];
extern const char SQL_FENCE[], SQL_WRITE_TRANSFERS[], SQL_WRITE_BALANCES[],
	SQL_WRITE_NEW_BALANCES[];
extern const char SQL_WRITE_HOLDS[], SQL_WRITE_NEW_HOLDS[], SQL_WRITE_CLOSED_HOLDS[];
extern const char SQL_WRITE_SEGMENTS[];
extern const char SQL_HISTORY_READ[], SQL_HISTORY_WRITE[], SQL_HISTORY_FORGET[];
extern const char SQL_FORGET[];
extern const char SQL_OUTCOMES[];

/* A migration: number n is MIGRATIONS[n - 1], and the version of a schema is the highest number
 * applied. A program works with a schema that has unknown additions (013_additions.sql; "-- The
 * ledger, addition N" in the first line), and refuses any other unknown migration. */
struct migration {
	const char *name, *sql;
	bool addition;
};
extern const struct migration MIGRATIONS[];
extern const int MIGRATIONS_COUNT;

#endif
