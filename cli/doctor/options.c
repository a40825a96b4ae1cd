#include "cli/doctor/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "cli/flags.h"

enum {
	OPT_KUBECONFIG = 256,
	OPT_CONTEXT,
	OPT_DATABASE,
	OPT_CELL,
	OPT_CONFIG,
	OPT_IGNORE,
	OPT_SETTLE,
};

static const struct option flags[] = {
	{"output", required_argument, NULL, 'o'},
	{"namespace", required_argument, NULL, 'n'},
	{"kubeconfig", required_argument, NULL, OPT_KUBECONFIG},
	{"context", required_argument, NULL, OPT_CONTEXT},
	{"database", required_argument, NULL, OPT_DATABASE},
	{"cell", required_argument, NULL, OPT_CELL},
	{"overcommit-config", required_argument, NULL, OPT_CONFIG},
	{"ignore", required_argument, NULL, OPT_IGNORE},
	{"settle", required_argument, NULL, OPT_SETTLE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* It becomes part of paths, and of the manifests that are compared. */
static int take_namespace(const char *text, struct doctor_options *o, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t len = strlen(text);
	o->namespace_name = text;
	if (len > 0 && len <= 63 && strspn(text, allowed) == len)
		return 0;
	return err_set(
		e, ERR_INVALID, "--namespace is \"%.80s\", which is not the name of one", text);
}

static int take_settle(const char *text, struct doctor_options *o, struct err *e)
{
	char *end;
	long seconds = strtol(text, &end, 10);
	if (end == text || strcmp(end, "s") != 0 || seconds < 0 || seconds > 600)
		return err_set(
			e, ERR_INVALID, "--settle is \"%.40s\"; it must be from 0s to 600s", text);
	o->settle_ms = seconds * 1000;
	return 0;
}

static int take_ignored(const char *text, struct doctor_options *o, struct err *e)
{
	if (o->nignored == DOCTOR_IGNORED_MAX)
		return err_set(e, ERR_LIMIT, "--ignore is given too often");
	o->ignored[o->nignored++] = text;
	return 0;
}

static int take(int flag, void *options, struct err *e)
{
	struct doctor_options *o = options;
	switch (flag) {
	case 'o':
		return flags_json(optarg, &o->json, e);
	case 'n':
		return take_namespace(optarg, o, e);
	case OPT_KUBECONFIG:
		o->kubeconfig = optarg;
		return 0;
	case OPT_CONTEXT:
		o->context = optarg;
		return 0;
	case OPT_DATABASE:
		o->database = optarg;
		return 0;
	case OPT_CELL:
		o->cell = optarg;
		return 0;
	case OPT_CONFIG:
		return flags_overcommit_config(optarg, &o->configmap, e);
	case OPT_IGNORE:
		return take_ignored(optarg, o, e);
	case OPT_SETTLE:
		return take_settle(optarg, o, e);
	case 'h':
		o->help = true;
		return 0;
	default:
		must_not_get_here();
	}
}

/* Without any of these libpq would try a server on this machine, which nobody has named. */
static const char *database_of_environment(void)
{
	static const char *const names[] = {"PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return "";
	}
	return NULL;
}

static int check(const struct doctor_options *o, bool (*is_check)(const char *name), struct err *e)
{
	for (size_t i = 0; i < o->nignored; i++)
		if (!is_check(o->ignored[i]))
			return err_set(e, ERR_INVALID,
				"--ignore is \"%.60s\", and there is no such check", o->ignored[i]);
	return 0;
}

int doctor_options_parse(int argc, char **argv, bool (*is_check)(const char *name),
	struct doctor_options *ret, struct err *e)
{
	struct doctor_options o = {.database = database_of_environment(),
		.cell = "default",
		.namespace_name = "sluice-system",
		.configmap = "kube-system/ack-slo-config",
		.settle_ms = 5000};
	int rc = flags_walk(argc, argv, 1, ":o:n:h", flags, take, &o, e);
	if (rc == 0 && optind < argc)
		rc = err_set(e, ERR_INVALID, "\"%.60s\" is one name too many", argv[optind]);
	if (rc == 0)
		rc = check(&o, is_check, e);
	if (rc == 0)
		*ret = o;
	return rc;
}
