#include "cli/doctor/checks.h"

#include <stdlib.h>
#include <string.h>

#include "queue/calendar/tzdata.h"
#include "cli/deployed.h"

#define APPLY "kubectl apply --server-side --force-conflicts -k "
#define APPLY_FILE "kubectl apply --server-side --force-conflicts -f "
#define ANEW                                                                                       \
	"kubectl -n sluice-system rollout restart deployment/sluice-controller\n"                  \
	"# a new leader reads the open reservations and compares each with its Job"

const struct check CHECKS[] = {
	{"api-server", "API server", "whether it answers", NEEDS_NOBODY, check_api_server,
		"kubectl version   # then --kubeconfig or --context as for kubectl"},
	{"version", "API server", "which Kubernetes it is", NEEDS_API, check_version,
		"# upgrade Kubernetes"},
	{"mutating-policies", "API server", "whether it serves MutatingAdmissionPolicy as v1",
		NEEDS_API, check_mutating_policies,
		"# in the kustomization that you apply: components: [../../components/without-mutating-policy]"},
	{"api-clock", "API server", "its clock beside this machine's", NEEDS_API, check_api_clock,
		"timedatectl set-ntp true   # here and on the control plane"},
	{"crds", "CRDs", "whether our kinds are there, served, and as new as this program",
		NEEDS_API, check_crds, APPLY "api/crds"},
	{"rbac", "RBAC", "whether the controller's account may do what deploy/rbac says", NEEDS_API,
		check_rbac, APPLY "deploy/rbac"},
	{"policies", "admission policies",
		"whether the policies of deploy/policies exist, are bound, and are unchanged",
		NEEDS_API, check_policies, APPLY "deploy/policies"},
	{"controllers", "controller", "whether its pods are ready, and what they cannot follow",
		NEEDS_API, check_controllers, NULL},
	{"visibility", "controller", "whether the API server reaches visibility.sluice.dev",
		NEEDS_API, check_visibility, NULL},
	{"postgres", "Postgres", "whether it answers, and which version it is", NEEDS_NOBODY,
		check_postgres, "psql CONNINFO -c 'select 1'   # with the controller's --database"},
	{"durability", "Postgres", "whether what it confirms is on disk", NEEDS_DATABASE,
		check_durability, NULL},
	{"replication", "Postgres", "what of the ledger a failover would lose", NEEDS_DATABASE,
		check_replication, NULL},
	{"pooler", "Postgres", "whether there is one before Postgres", NEEDS_DATABASE, check_pooler,
		"# connect to Postgres itself, or put the pooler in transaction mode"},
	{"database-clock", "Postgres", "its clock beside this machine's", NEEDS_DATABASE,
		check_database_clock, "timedatectl set-ntp true   # here and there"},
	{"schema", "Postgres", "the version of the ledger's schema beside this program's",
		NEEDS_DATABASE, check_schema, ANEW},
	{"role", "Postgres", "what the role that we connect as may do", NEEDS_SCHEMA, check_role,
		NULL},
	{"lease", "Postgres", "which controller leads, and until when", NEEDS_SCHEMA, check_lease,
		"kubectl -n sluice-system get pods; kubectl -n sluice-system logs deployment/sluice-controller --tail 20"},
	{"leftovers", "queues", "ClusterQueues and ResourceFlavors that are being deleted",
		NEEDS_API, check_leftovers, NULL},
	{"conditions", "queues", "what Sluice's own objects say of themselves", NEEDS_API,
		check_conditions, NULL},
	{"queue-names", "queues", "LocalQueues that Jobs name and that are not there", NEEDS_API,
		check_queue_names, NULL},
	{"gap-fillers", "queues",
		"negative priorities beside reclaimWithinCohort Any or StrictFIFO", NEEDS_API,
		check_gap_fillers, NULL},
	{"zones", "zone data", "the zone database of this machine", NEEDS_NOBODY, check_zones,
		"apt-get install tzdata"},
	{"balances", "ledger", "the balances against the open reservations (sluice.audit)",
		NEEDS_SCHEMA, check_balances,
		"# docs/trouble.md, \"The balances are wrong\", has the statements"},
	{"history", "ledger", "how large it is, how fast it grows, what is forgotten of it",
		NEEDS_SCHEMA, check_history, NULL},
	{"holds", "ledger", "open reservations whose Job is gone, has ended or is suspended",
		NEEDS_BOTH, check_holds, ANEW},
	{"jobs", "ledger", "queued Jobs that run without a reservation", NEEDS_BOTH, check_jobs,
		ANEW},
	{"pods", "ledger", "pods of queued Jobs without a reservation", NEEDS_BOTH, check_pods,
		ANEW},
	{"lending", "lending",
		"whether the account may do what lending idle resources needs, where that is on",
		NEEDS_API, check_lending, APPLY_FILE "deploy/components/idle-resources/role.yaml"},
	{"metrics", "lending", "metrics.k8s.io, where idle resources are lent", NEEDS_API,
		check_metrics, NULL},
	{"agent-rights", "lending",
		"whether agents of nodes, and the controller for them, may do what they need",
		NEEDS_API, check_agent_rights, APPLY_FILE "deploy/components/node-agent/role.yaml"},
	{"node-agents", "lending",
		"whether the agents of nodes report, and can do what they are for", NEEDS_API,
		check_node_agents, NULL},
};
const size_t CHECKS_COUNT = sizeof(CHECKS) / sizeof(*CHECKS);

bool checks_has(const char *name)
{
	for (size_t i = 0; i < CHECKS_COUNT; i++)
		if (strcmp(CHECKS[i].name, name) == 0)
			return true;
	return false;
}

/* Says why a check cannot be made; NULL: it can. */
static const char *hindrance(const struct doctor_context *p, enum check_needs needs)
{
	bool api = needs == NEEDS_API || needs == NEEDS_BOTH;
	bool database = needs == NEEDS_DATABASE || needs == NEEDS_SCHEMA || needs == NEEDS_BOTH;
	bool schema = needs == NEEDS_SCHEMA || needs == NEEDS_BOTH;
	if (api && !p->api_answers)
		return "the API server does not answer";
	if (database && !p->o->database)
		return "no database is named (--database, PGHOST)";
	if (database && !p->pg)
		return "Postgres does not answer";
	if (schema && !p->has_schema)
		return "there is no ledger of a version that this program knows";
	return NULL;
}

static bool is_ignored(const struct doctor_options *o, const char *name)
{
	for (size_t i = 0; i < o->ignored.count; i++)
		if (strcmp(o->ignored.text[i], name) == 0)
			return true;
	return false;
}

void checks_run(struct doctor_context *p, struct findings *f)
{
	for (size_t i = 0; i < CHECKS_COUNT; i++) {
		const struct check *c = &CHECKS[i];
		const char *why = hindrance(p, c->needs);
		f[i] = (struct findings){.name = c->name,
			.group = c->group,
			.looks_at = c->looks_at,
			.usual_cure = deployed_for(c->cure ? c->cure : "", p->o->namespace_name)};
		if (why)
			findings_skip(&f[i], "%s", why);
		else
			c->run(p, &f[i]);
		/* The check is made all the same: others rest on it. */
		if (is_ignored(p->o, c->name))
			findings_ignore(&f[i]);
	}
}

void check_zones(struct doctor_context *p, struct findings *f)
{
	(void)p;
	char version[TZDATA_VERSION_SIZE];
	struct zone *zone;
	struct err e = {""};
	if (tzdata_load("Europe/Berlin", &zone, &e) < 0) {
		findings_add(f, VERDICT_FAIL,
			"%s (this is about the machine that doctor runs on; the controller's is its image)",
			e.text);
		return;
	}
	zone_free(zone);
	findings_ok(f, "edition %s reads Europe/Berlin", tzdata_version(version));
}
