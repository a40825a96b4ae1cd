#include "controller/migrate.h"

#include <ev.h>
#include <signal.h>

#include "base/must.h"
#include "controller/common/seed.h"
#include "controller/controller.h"
#include "controller/ledger/pg.h"
#include "controller/ledger/sql.h"

struct migrate {
	struct ev_loop *loop;
	struct log *log;
	struct pg *pg;
	int exit_code;
};

static void finish(struct migrate *m, int exit_code)
{
	m->exit_code = exit_code;
	ev_break(m->loop, EVBREAK_ALL);
}

static void on_migrate(const struct pg_answer *a, void *ctx)
{
	struct migrate *m = ctx;
	if (a->outcome != LEDGER_DONE)
		return; /* on_state() says why */
	log_event(m->log, LEVEL_INFO, "migrated", "what", "the schema of the ledger is up to date",
		"#version", LOG_NUMBER(MIGRATIONS_COUNT), NULL);
	finish(m, EXIT_ASKED);
}

static void on_state(bool up, const char *sentence, void *ctx)
{
	struct migrate *m = ctx;
	if (up) {
		pg_migrate(m->pg, &(struct pg_asker){on_migrate, m, 1});
		return;
	}
	log_event(m->log, LEVEL_ERROR, "cannot-migrate", "why", sentence, NULL);
	finish(m, EXIT_NO_START);
}

int migrate_run(const struct options *o, struct log *log)
{
	struct migrate m = {.log = log, .exit_code = EXIT_NO_START};
	struct err e = {""};
	struct pg_options pg = {.conninfo = o->database,
		.cell = o->cell,
		.identity = o->identity,
		.seed = seed_draw(),
		.state = on_state,
		.ctx = &m};
	signal(SIGPIPE, SIG_IGN);
	m.loop = ev_loop_new(EVFLAG_AUTO);
	must(m.loop);
	if (pg_new(m.loop, &pg, &m.pg, &e) != 0) {
		err_wrap(&e, "--database");
		log_event(log, LEVEL_ERROR, "cannot-migrate", "why", e.text, NULL);
	} else {
		ev_run(m.loop, 0);
	}
	pg_free(m.pg);
	ev_loop_destroy(m.loop);
	return m.exit_code;
}
