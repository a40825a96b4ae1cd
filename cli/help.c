#include "cli/help.h"

static const char overview[] =
	"NAME\n"
	"    sluice - what the queue of Jobs is doing, and why\n"
	"\n"
	"SYNOPSIS\n"
	"    sluice queue [NAME] [-n NAMESPACE] [-o table|wide|json]\n"
	"    sluice explain job/NAME [-n NAMESPACE] [-o table|json]\n"
	"    sluice decisions [-f] [-n NAMESPACE] [-o table|json]\n"
	"    sluice version\n"
	"    sluice help [COMMAND]\n"
	"\n"
	"    Under the name kubectl-sluice, anywhere in PATH: kubectl sluice queue ...\n"
	"\n"
	"DESCRIPTION\n"
	"    Asks a running sluice-controller. It changes nothing: queues are changed with "
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
	"    2  the command line is wrong\n"
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
	"    LocalQueue, its ClusterQueue, the quota there, its place in the line.\n"
	"\n"
	"    The reasons (in -o json: reason) keep their names; they are Kueue's where they mean\n"
	"    the same: OnHold, Misconfigured, NoMatchingFlavor, Suspended, ExceedsMaxQuota, "
	"BackOff,\n"
	"    WaitingForQuota, WaitingForJobAhead, PendingEvaluation.\n"
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

void help_print(enum command c, FILE *out)
{
	switch (c) {
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
