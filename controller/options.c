#include "controller/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/must.h"

enum {
	OPT_KUBECONFIG = 256,
	OPT_CONTEXT,
	OPT_DATABASE,
	OPT_CELL,
	OPT_LISTEN,
	OPT_LOG_FORMAT,
	OPT_LOG_LEVEL,
	OPT_IDENTITY,
	OPT_LEASE_SECONDS,
	OPT_MAX_WRITES,
	OPT_HELP,
	OPT_VERSION,
};

static const struct option flags[] = {
	{"kubeconfig", required_argument, NULL, OPT_KUBECONFIG},
	{"context", required_argument, NULL, OPT_CONTEXT},
	{"database", required_argument, NULL, OPT_DATABASE},
	{"cell", required_argument, NULL, OPT_CELL},
	{"listen", required_argument, NULL, OPT_LISTEN},
	{"log-format", required_argument, NULL, OPT_LOG_FORMAT},
	{"log-level", required_argument, NULL, OPT_LOG_LEVEL},
	{"identity", required_argument, NULL, OPT_IDENTITY},
	{"lease-seconds", required_argument, NULL, OPT_LEASE_SECONDS},
	{"max-writes", required_argument, NULL, OPT_MAX_WRITES},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

/* ---- one flag each --------------------------------------------------------------------------- */

static int parse_number(
	const char *flag, const char *text, long least, long most, long *ret, struct err *e)
{
	char *end;
	errno = 0;
	long n = strtol(text, &end, 10);
	bool digits = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
	if (!digits || n < least || n > most)
		return err_set(e, ERR_INVALID,
			"--%s is \"%.60s\"; it must be a whole number from %ld to %ld", flag, text,
			least, most);
	*ret = n;
	return 0;
}

/* In every key of the ledger and in labels of dashboards, so it is kept plain. */
static int parse_cell(const char *text, struct options *o, struct err *e)
{
	size_t n = strlen(text);
	bool good = n >= 1 && n <= 63 && text[0] != '-' && text[n - 1] != '-';
	for (size_t i = 0; i < n && good; i++)
		good = strchr("abcdefghijklmnopqrstuvwxyz0123456789-", text[i]);
	if (!good)
		return err_set(e, ERR_INVALID,
			"--cell is \"%.80s\"; it names this cluster in the ledger and must be 1 to "
			"63 "
			"lower-case letters, digits and '-', such as prod-eu-1",
			text);
	o->cell = text;
	return 0;
}

static int parse_identity(const char *text, struct options *o, struct err *e)
{
	size_t n = strlen(text);
	bool good = n >= 1 && n < sizeof(o->identity);
	for (size_t i = 0; i < n && good; i++)
		good = text[i] > ' ' && text[i] < 0x7F;
	if (!good)
		return err_set(e, ERR_INVALID,
			"--identity is \"%.80s\"; it must be 1 to %zu printable ASCII characters "
			"without blanks, and no other running controller may have it",
			text, sizeof(o->identity) - 1);
	memcpy(o->identity, text, n + 1);
	return 0;
}

static int listen_error(const char *text, struct err *e)
{
	return err_set(e, ERR_INVALID,
		"--listen is \"%.80s\"; it must be ADDRESS:PORT, such as 127.0.0.1:8080 or "
		"[::]:8080, or the word off",
		text);
}

static int parse_listen(const char *text, struct options *o, struct err *e)
{
	o->listen = strcmp(text, "off") != 0;
	if (!o->listen)
		return 0;
	const char *colon = strrchr(text, ':');
	if (!colon)
		return listen_error(text, e);
	const char *host = text;
	size_t len = (size_t)(colon - text);
	if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	} else if (memchr(host, ':', len)) { /* an IPv6 address without its brackets */
		return listen_error(text, e);
	}
	long port;
	if (len >= sizeof(o->listen_host) ||
		parse_number("listen", colon + 1, 0, 65535, &port, NULL))
		return listen_error(text, e);
	memcpy(o->listen_host, host, len);
	o->listen_host[len] = '\0';
	o->listen_port = (uint16_t)port;
	return 0;
}

static int parse_log_format(const char *text, struct options *o, struct err *e)
{
	if (strcmp(text, "text") != 0 && strcmp(text, "json") != 0)
		return err_set(
			e, ERR_INVALID, "--log-format is \"%.60s\"; it must be text or json", text);
	o->log_format = text[0] == 'j' ? LOG_JSON : LOG_TEXT;
	return 0;
}

static int parse_log_level(const char *text, struct options *o, struct err *e)
{
	static const char *const names[] = {"error", "warn", "info", "debug"};
	for (int i = 0; i < 4; i++) {
		if (strcmp(text, names[i]) == 0) {
			o->log_level = (enum log_level)i;
			return 0;
		}
	}
	return err_set(e, ERR_INVALID,
		"--log-level is \"%.60s\"; it must be error, warn, info or debug", text);
}

static int parse_nonempty(const char *flag, const char *text, const char **ret, struct err *e)
{
	if (text[0] == '\0')
		return err_set(
			e, ERR_INVALID, "--%s is empty; give it a value or leave it out", flag);
	*ret = text;
	return 0;
}

static int apply_flag(int flag, const char *arg, struct options *o, struct err *e)
{
	long n;
	int rc = 0;
	switch (flag) {
	case OPT_KUBECONFIG:
		return parse_nonempty("kubeconfig", arg, &o->kubeconfig, e);
	case OPT_CONTEXT:
		return parse_nonempty("context", arg, &o->context, e);
	case OPT_DATABASE:
		o->database = arg;
		return 0;
	case OPT_CELL:
		return parse_cell(arg, o, e);
	case OPT_LISTEN:
		return parse_listen(arg, o, e);
	case OPT_LOG_FORMAT:
		return parse_log_format(arg, o, e);
	case OPT_LOG_LEVEL:
		return parse_log_level(arg, o, e);
	case OPT_IDENTITY:
		return parse_identity(arg, o, e);
	case OPT_LEASE_SECONDS:
		rc = parse_number("lease-seconds", arg, 3, 300, &n, e);
		if (rc == 0)
			o->lease_ms = n * 1000;
		return rc;
	case OPT_MAX_WRITES:
		rc = parse_number("max-writes", arg, 1, 1000, &n, e);
		if (rc == 0)
			o->max_writes = (unsigned)n;
		return rc;
	default:
		must_not_get_here();
	}
	return rc;
}

/* ---- the whole line -------------------------------------------------------------------------- */

static int unknown_flag(int argc, char **argv, int got, struct err *e)
{
	const char *arg = optind > 0 && optind <= argc ? argv[optind - 1] : "?";
	if (got == ':')
		return err_set(
			e, ERR_INVALID, "%.80s wants a value; see sluice-controller --help", arg);
	if (optopt >= 256)
		return err_set(e, ERR_INVALID, "%.80s: this flag takes no value", arg);
	if (optopt > 0)
		return err_set(e, ERR_INVALID,
			"-%c is not a flag; flags are written with two dashes, see "
			"sluice-controller --help",
			optopt);
	return err_set(e, ERR_INVALID,
		"%.80s is not a flag, or short for more than one; see sluice-controller --help",
		arg);
}

/* Unique without a pid: in a container that is always 1. */
static void default_identity(struct options *o)
{
	char host[100] = "";
	uint32_t random = (uint32_t)getpid();
	if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0')
		strcpy(host, "sluice");
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random ^= (uint32_t)getpid();
	snprintf(o->identity, sizeof(o->identity), "%s_%08" PRIx32, host, random);
}

int options_parse(int argc, char **argv, struct options *ret, struct err *e)
{
	struct options o = {
		.database = "",
		.cell = "default",
		.listen = true,
		.listen_host = "127.0.0.1",
		.listen_port = 8080,
		.log_level = LEVEL_INFO,
		.lease_ms = 15000,
		.max_writes = 64,
	};
	optind = 0; /* glibc: begin anew, for the tests */
	opterr = 0;
	for (int flag; (flag = getopt_long(argc, argv, ":h", flags, NULL)) != -1;) {
		if (flag == '?' || flag == ':')
			return unknown_flag(argc, argv, flag, e);
		if (flag == OPT_HELP || flag == 'h' || flag == OPT_VERSION) {
			o.show = flag == OPT_VERSION ? SHOW_VERSION : SHOW_HELP;
			*ret = o;
			return 0;
		}
		int rc = apply_flag(flag, optarg, &o, e);
		if (rc)
			return rc;
	}
	if (optind < argc)
		return err_set(e, ERR_INVALID,
			"\"%.80s\" is not understood: there are only flags, see "
			"sluice-controller --help",
			argv[optind]);
	if (o.identity[0] == '\0')
		default_identity(&o);
	*ret = o;
	return 0;
}

void options_print_version(FILE *out)
{
	fprintf(out, "sluice-controller %s\n", SLUICE_VERSION);
}

void options_print_help(FILE *out)
{
	static const char *const help[] = {
		"NAME\n"
		"    sluice-controller - starts suspended Kubernetes Jobs when there is quota for "
		"them\n"
		"\n"
		"SYNOPSIS\n"
		"    sluice-controller [--kubeconfig FILE] [--database CONNINFO] [--listen "
		"ADDR:PORT] ...\n"
		"\n"
		"DESCRIPTION\n"
		"    Watches the Jobs that carry the label sluice.dev/queue-name, and the "
		"ClusterQueues,\n"
		"    LocalQueues and ResourceFlavors that admins describe. Lifts the suspension of "
		"each\n"
		"    Job when its turn comes and its ClusterQueue has quota, and keeps the quota "
		"that\n"
		"    running Jobs hold as a ledger in Postgres: first written there, then on the "
		"cluster.\n"
		"\n"
		"    Any number of controllers may run; the one that holds the lease in the "
		"database\n"
		"    decides, the others stand by and take over when it ends or falls silent. "
		"Killing one\n"
		"    at any moment is safe.\n"
		"\n",
		"OPTIONS\n"
		"    --kubeconfig FILE\n"
		"        How to reach the API server. Default: the files in $KUBECONFIG, else the "
		"service\n"
		"        account of the pod this runs in, else ~/.kube/config.\n"
		"    --context NAME\n"
		"        The context of the kubeconfig to use. Default: its current one.\n"
		"    --database CONNINFO\n"
		"        The ledger: a libpq connection string such as \"host=db dbname=sluice "
		"user=sluice\"\n"
		"        or postgresql://sluice@db/sluice. Default: the PG* environment variables. "
		"Put the\n"
		"        password into PGPASSWORD or a PGPASSFILE: command lines can be read by "
		"others.\n"
		"        The tables are made and brought up to date by the controller that leads.\n"
		"    --cell NAME\n"
		"        Names this cluster in the ledger; clusters that share a database each "
		"need their\n"
		"        own, and it must never change. Default: default.\n"
		"    --listen ADDRESS:PORT\n"
		"        Where to serve HTTP (see below), or off. [::]:8080 is all addresses. "
		"Default:\n"
		"        127.0.0.1:8080.\n"
		"    --identity NAME\n"
		"        What this process calls itself in the lease and in what it writes on "
		"Jobs. Must\n"
		"        differ between controllers. Default: the host name and a random number.\n"
		"    --lease-seconds N\n"
		"        How long the lease lasts when it is not renewed, 3 to 300: how soon a "
		"standby\n"
		"        takes over from a leader that was killed. Default: 15.\n"
		"    --max-writes N\n"
		"        How many requests to the API server may be under way at once, 1 to 1000.\n"
		"        Default: 64.\n"
		"    --log-format text|json\n"
		"        One line for each event on standard error. Default: text.\n"
		"    --log-level error|warn|info|debug\n"
		"        Default: info.\n"
		"    -h, --help; --version\n"
		"\n",
		"HTTP\n"
		"    /healthz               200 while the loop turns\n"
		"    /readyz                200 when leading, or standing by with all it needs to "
		"take\n"
		"                           over; else 503. The body says which, and what is "
		"missing\n"
		"    /metrics               OpenMetrics\n"
		"    /api/v1/queues         the queues with their quotas, for `sluice queue`\n"
		"    /api/v1/jobs/NS/NAME   why a Job waits, for `sluice explain`\n"
		"    /api/v1/decisions      the last 512 decisions; ?after=N: those after number "
		"N\n"
		"\n"
		"    The first three are open to all who reach the port. The rest is open to "
		"callers from\n"
		"    the same host (kubectl port-forward is one); any other must send a bearer "
		"token whose\n"
		"    owner may `get clusterqueues.sluice.dev`. It is plain HTTP: on a network that "
		"is not\n"
		"    trusted put TLS in front, or let people use kubectl port-forward.\n"
		"\n"
		"SIGNALS\n"
		"    SIGTERM, SIGINT   stop deciding, let writes that are under way end (at most 5 "
		"s), give\n"
		"                      the lease back, exit. A second one exits at once. SIGHUP is "
		"ignored.\n"
		"\n",
		"EXIT STATUS\n"
		"    0  asked to stop\n"
		"    1  could not start: the kubeconfig, the connection string or the address is "
		"wrong\n"
		"    2  a flag is wrong\n"
		"    3  another controller took the lease over; start again, as its standby\n"
		"\n"
		"SEE ALSO\n"
		"    sluice(1), the command for people; docs/ in the source.\n",
	};
	for (size_t i = 0; i < sizeof(help) / sizeof(help[0]); i++)
		fputs(help[i], out);
}
