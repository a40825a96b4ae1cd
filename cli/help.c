#include "cli/help.h"

static const char overview[] =
	"NAME\n"
	"    sluice - what the queue of Jobs is doing, and why\n"
	"\n"
	"SYNOPSIS\n"
	"    sluice queue [NAME] [-n NAMESPACE] [-o table|wide|json]\n"
	"    sluice explain job/NAME [-n NAMESPACE] [-o table|json]\n"
	"    sluice decisions [-f] [-n NAMESPACE] [-o table|json]\n"
	"    sluice simulate -f MANIFESTS... [--trace FILE.swf[.gz]] [-o table|json|svg]\n"
	"    sluice version\n"
	"    sluice help [COMMAND]\n"
	"\n"
	"    Under the name kubectl-sluice, anywhere in PATH: kubectl sluice queue ...\n"
	"\n"
	"DESCRIPTION\n"
	"    Asks a running sluice-controller (simulate asks nobody). It changes nothing: queues "
	"are changed with "
	"kubectl\n"
	"    apply, Jobs with kubectl.\n"
	"\n";

static const char common[] =
	"OPTIONS OF ALL COMMANDS\n"
	"    --server URL\n"
	"        Where the controller listens. Default: $SLUICE_SERVER, else " DEFAULT_SERVER ".\n"
	"        From outside the cluster:\n"
	"            kubectl -n sluice-system port-forward deploy/sluice-controller 8080\n"
	"    --token-file FILE\n"
	"        A bearer token to show to a controller that is not reached by port-forward\n"
	"        (kubectl create token NAME makes one). Also: the variable SLUICE_TOKEN.\n"
	"    -n, --namespace NAME\n"
	"        Default: that of the kubeconfig's current context.\n"
	"    --kubeconfig FILE, --context NAME\n"
	"        Where that default is looked up; as for kubectl.\n"
	"    -h, --help\n"
	"\n"
	"ENVIRONMENT\n"
	"    SLUICE_SERVER, SLUICE_TOKEN, KUBECONFIG\n"
	"    NO_COLOR   set to anything: no colours. There are none without a terminal either.\n"
	"\n"
	"EXIT STATUS\n"
	"    0  answered\n"
	"    1  no such Job or queue\n"
	"    2  the command line, a manifest or a trace is wrong\n"
	"    3  the controller cannot be reached, or does not let us in\n";

static const char queue_help[] =
	"NAME\n"
	"    sluice queue - the queues with their quotas\n"
	"\n"
	"SYNOPSIS\n"
	"    sluice queue [NAME] [-n NAMESPACE] [-o table|wide|json]\n"
	"\n"
	"DESCRIPTION\n"
	"    One line for each resource of each flavor of each ClusterQueue: a bar that shows how\n"
	"    much of the quota is held, by Jobs that run or are about to, and how many Jobs wait "
	"and\n"
	"    run. With a NAME: that ClusterQueue alone, what its condition says, and the "
	"LocalQueues\n"
	"    that lead to it. With -n: the LocalQueues of that namespace, and where they lead.\n"
	"\n"
	"    -o wide  also strategy, cohort and how many finished since the controller started\n"
	"    -o json  {\"clusterQueues\":[...],\"localQueues\":[...]}\n"
	"\n"
	"EXAMPLES\n"
	"    sluice queue\n"
	"    sluice queue batch -o json | jq '.clusterQueues[].pending'\n"
	"\n";

static const char explain_help[] =
	"NAME\n"
	"    sluice explain - why a Job waits\n"
	"\n"
	"SYNOPSIS\n"
	"    sluice explain job/NAME [-n NAMESPACE] [-o table|json]\n"
	"\n"
	"DESCRIPTION\n"
	"    The first line is a plain sentence with numbers. Below it the way the Job takes: its\n"
	"    LocalQueue, its ClusterQueue, the quota there, its place in the line, and what was\n"
	"    last done to it.\n"
	"\n"
	"    The reasons (in -o json: reason) keep their names; they are Kueue's where they mean\n"
	"    the same: Deactivated, OnHold, Misconfigured, NoMatchingFlavor, Suspended,\n"
	"    ExceedsMaxQuota, BackOff, WaitingForQuota, WaitingForPreemptedWorkloads,\n"
	"    WaitingForJobAhead, PendingEvaluation; QuotaReserved: it does not wait.\n"
	"\n"
	"EXAMPLES\n"
	"    sluice explain job/train -n team-a\n"
	"    sluice explain train -o json | jq -r .reason\n"
	"\n";

static const char decisions_help[] =
	"NAME\n"
	"    sluice decisions - what was started and stopped lately\n"
	"\n"
	"SYNOPSIS\n"
	"    sluice decisions [-f] [-n NAMESPACE] [-o table|json]\n"
	"\n"
	"DESCRIPTION\n"
	"    The last decisions of the controller, at most 512, in words, oldest first: of all\n"
	"    namespaces, or with -n of one.\n"
	"\n"
	"    -f, --follow  keep printing new ones until interrupted\n"
	"    -o json       one JSON object on each line\n"
	"\n";

static const char simulate_help[] =
	"NAME\n"
	"    sluice simulate - what the queues would do, in virtual time, without a cluster\n"
	"\n"
	"SYNOPSIS\n"
	"    sluice simulate -f MANIFESTS... [--trace FILE.swf[.gz] [--compress F] [--queue "
	"NS/NAME]]\n"
	"                    [--until DURATION] [-o table|json|svg] [--seed N]\n"
	"                    [--fair-sharing] [... as sluice-controller]\n"
	"\n"
	"DESCRIPTION\n"
	"    Runs the controller's own core on plain YAML: ClusterQueues, LocalQueues, Cohorts,\n"
	"    ResourceFlavors, WorkloadPriorityClasses, Jobs, CronJobs, Namespaces, Nodes,\n"
	"    PriorityClasses, LimitRanges, RuntimeClasses. A day of the cluster takes a moment. "
	"Pods\n"
	"    begin and end at once here; quota alone decides.\n"
	"\n"
	"    A Job arrives at its metadata.creationTimestamp; without one, at the start, in the "
	"order\n"
	"    of the files. Its annotations:\n"
	"        sluice.dev/simulate-duration: 1h30m\n"
	"            How long a run takes; absent: it never ends by itself. Each attempt takes "
	"that\n"
	"            long: a Job that is stopped loses its work.\n"
	"        sluice.dev/expected-duration: 2h\n"
	"            What its owner believes; Backfill goes by that.\n"
	"        sluice.dev/simulate-delete: 2026-11-21T10:00:00Z\n"
	"            Somebody deletes it then, running or not.\n"
	"        sluice.dev/simulate-admitted: "
	"'{\"clusterQueue\":\"a\",\"flavors\":{\"cpu\":\"spot\"},\n"
	"            \"at\":\"2026-11-21T09:00:00Z\"}'\n"
	"            With suspend: false: it runs from the beginning. Nothing is decided before "
	"the\n"
	"            latest such time.\n"
	"\n"
	"OPTIONS\n"
	"    -f, --filename FILE|DIR|-\n"
	"        Manifests; several may follow one -f, and -f may be repeated. Of a directory: "
	"its\n"
	"        *.yaml, *.yml and *.json.\n"
	"    --trace FILE\n"
	"        Jobs from a trace in the Standard Workload Format, plain or gzip: N processors "
	"are N\n"
	"        pods of 1 cpu; a Job is named by its job number.\n"
	"    --compress F\n"
	"        Divides the trace's submit times by F (whole seconds, rounded down): more load.\n"
	"    --queue NAMESPACE/NAME\n"
	"        The LocalQueue of the trace's Jobs. Without it: user-N in namespace default, N "
	"being\n"
	"        the user. It must be in the manifests.\n"
	"    --until DURATION\n"
	"        How long to play: 24h, 90s, 5400, or until a time. Without it: until nothing "
	"more\n"
	"        happens. CronJobs need it.\n"
	"    -o table|json|svg\n"
	"        table  the figures; if it is short, what happened too\n"
	"        json   a line for each event, then {\"summary\":{...}}\n"
	"        svg    a Gantt chart of each ClusterQueue, and the utilisation over time\n"
	"    --seed N\n"
	"        For what is random. Nothing is today: the same input gives the same output.\n"
	"    --fair-sharing, --fair-preemption-strategies LIST, --wait-for-pods-ready DURATION,\n"
	"    --pods-ready-recovery DURATION, --requeue-backoff-base DURATION,\n"
	"    --requeue-backoff-max DURATION, --requeue-backoff-limit N,\n"
	"    --requeue-timestamp Eviction|Creation, --usage-half-life DURATION,\n"
	"    --usage-resource-weights LIST, --exclude-resource-prefixes LIST,\n"
	"    --transformation RULE, --quota-check-strategy BlockUndeclared|IgnoreUndeclared\n"
	"        As for sluice-controller, whose --help describes them. All pods become ready at\n"
	"        once here, so those about readiness change nothing.\n"
	"\n"
	"EXAMPLES\n"
	"    sluice simulate -f queues.yaml jobs.yaml\n"
	"    sluice simulate -f queues.yaml --trace NASA.swf.gz --queue default/main -o json\n"
	"\n"
	"EXIT STATUS\n"
	"    0  played\n"
	"    2  the command line, a manifest or the trace is wrong\n";

void help_print(enum command c, FILE *out)
{
	switch (c) {
	case COMMAND_SIMULATE:
		fputs(simulate_help, out);
		return; /* what all other commands have in common is about the controller */
	case COMMAND_QUEUE:
		fputs(queue_help, out);
		break;
	case COMMAND_EXPLAIN:
		fputs(explain_help, out);
		break;
	case COMMAND_DECISIONS:
		fputs(decisions_help, out);
		break;
	case COMMAND_NONE:
	case COMMAND_VERSION:
	case COMMAND_HELP:
	case COMMANDS:
		fputs(overview, out);
		break;
	}
	fputs(common, out);
}
