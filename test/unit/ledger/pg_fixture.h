/*
 * A real Postgres for tests: its own data directory in /tmp, unix socket only, fsync off. Run as an
 * ordinary user even when the test is root. It dies with the test.
 */
#ifndef SLUICE_TEST_LEDGER_PG_FIXTURE_H
#define SLUICE_TEST_LEDGER_PG_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

struct pg_fixture {
	char dir[64];	    /* data directory and socket are in it */
	char conninfo[192]; /* names the database `postgres` */
	pid_t postmaster;   /* 0: not running */
	bool fsync;
};

/* Aborts with a sentence when there is no Postgres to start. */
void pg_fixture_start(struct pg_fixture *f, bool fsync);
void pg_fixture_stop(struct pg_fixture *f); /* and removes everything */

/* kill -9 of the postmaster, then of what it leaves behind; waits until all of it is gone. */
void pg_fixture_crash(struct pg_fixture *f);
void pg_fixture_restart(
	struct pg_fixture *f); /* after a crash or a shutdown; waits until it answers */
void pg_fixture_shutdown(struct pg_fixture *f); /* fast: as `systemctl stop` does it */

/* Runs it on a connection of its own and returns the first value of the first row as text ("" for
 * none), good until the next call. Aborts on an error. */
const char *pg_fixture_sql(struct pg_fixture *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Ends all connections to it, with the locks that they hold: what a failed test has left would hold up the
 * next one until the alarm. Nothing happens where it does not answer. */
void pg_fixture_clear(const struct pg_fixture *f);

#endif
