/*
 * The checks, in the order in which they are made: a later one may rest on what an earlier one has
 * learnt (doctor_context.h). When a check is added: a row in checks.c, its function here, a line in
 * help/doctor.txt.
 */
#ifndef SLUICE_CLI_DOCTOR_CHECKS_H
#define SLUICE_CLI_DOCTOR_CHECKS_H

#include "cli/doctor/findings.h"
#include "cli/doctor/doctor_context.h"

enum check_needs {
	NEEDS_NOBODY,
	NEEDS_API,
	NEEDS_DATABASE,
	NEEDS_SCHEMA, /* the schema, and the database */
	NEEDS_BOTH,   /* the API server and the schema */
};

struct check {
	const char *name, *group, *looks_at;
	enum check_needs needs;
	void (*run)(struct doctor_context *p, struct findings *f);
	const char *cure; /* for findings without a cure of their own */
};

extern const struct check CHECKS[];
extern const size_t CHECKS_COUNT;

bool checks_has(const char *name);
/* Makes all checks; f has room for CHECKS_COUNT. */
void checks_run(struct doctor_context *p, struct findings *f);

/* server.c */
void check_api_server(struct doctor_context *p, struct findings *f);
void check_version(struct doctor_context *p, struct findings *f);
void check_mutating_policies(struct doctor_context *p, struct findings *f);
void check_api_clock(struct doctor_context *p, struct findings *f);
void check_metrics(struct doctor_context *p, struct findings *f);
/* installed.c */
void check_crds(struct doctor_context *p, struct findings *f);
void check_policies(struct doctor_context *p, struct findings *f);
/* controllers.c */
void check_controllers(struct doctor_context *p, struct findings *f);
/* visibility.c */
void check_visibility(struct doctor_context *p, struct findings *f);
/* rights.c */
void check_rbac(struct doctor_context *p, struct findings *f);
void check_lending(struct doctor_context *p, struct findings *f);
void check_agent_rights(struct doctor_context *p, struct findings *f);
/* Asks whether the controller's account may do that verb in all namespaces. resource: may name a
 * subresource, "nodes/proxy". ERR_DENIED: it could not be asked, and e says why. */
int rights_ask(struct doctor_context *p, const char *group, const char *resource, const char *verb,
	bool *ret_may, struct err *e);
/* server.c. Asks whether idle resources are lent. Below 0: an error with its sentence. */
int lending_is_on(struct doctor_context *p, bool *ret_on, struct err *e);
/* database.c */
void check_postgres(struct doctor_context *p, struct findings *f);
void check_durability(struct doctor_context *p, struct findings *f);
void check_replication(struct doctor_context *p, struct findings *f);
void check_pooler(struct doctor_context *p, struct findings *f);
void check_database_clock(struct doctor_context *p, struct findings *f);
void check_schema(struct doctor_context *p, struct findings *f);
void check_role(struct doctor_context *p, struct findings *f);
void check_lease(struct doctor_context *p, struct findings *f);
void check_balances(struct doctor_context *p, struct findings *f);
/* quickstart.c. True if the controllers use the Postgres of deploy/quickstart; false, too, where
 * that cannot be read. */
bool quickstart_is_used(struct doctor_context *p);
/* history.c */
void check_history(struct doctor_context *p, struct findings *f);
/* reconcile.c */
void check_holds(struct doctor_context *p, struct findings *f);
void check_jobs(struct doctor_context *p, struct findings *f);
void check_pods(struct doctor_context *p, struct findings *f);
/* leftovers.c */
void check_leftovers(struct doctor_context *p, struct findings *f);
/* conditions.c */
void check_conditions(struct doctor_context *p, struct findings *f);
/* queue_names.c */
void check_queue_names(struct doctor_context *p, struct findings *f);
/* gap_fillers.c */
void check_gap_fillers(struct doctor_context *p, struct findings *f);
/* node_agents.c */
void check_node_agents(struct doctor_context *p, struct findings *f);
/* Whether the agents of all nodes that lend report. False, too, where that cannot be read. */
bool node_agents_measure_all(struct doctor_context *p);
/* checks.c */
void check_zones(struct doctor_context *p, struct findings *f);

#endif
