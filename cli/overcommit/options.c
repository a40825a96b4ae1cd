#include "cli/overcommit/options.h"

#include <string.h>

#include "cli/flags.h"
#include "cli/moment.h"
#include "controller/common/clock.h"
#include "queue/calendar/tzdata.h"

static int take_now(const char *text, void *options, struct err *e)
{
	struct overcommit_options *o = options;
	struct moment now = {0};
	struct zone *own = tzdata_local();
	int rc = moment_read(text,
		&(struct moment_basis){.about_ms = clock_now_ms(), .zone = own, .last = true}, &now,
		e);
	if (rc == 0 && now.at_ms <= 0)
		rc = err_set(e, ERR_INVALID, "\"%.40s\" is before 1970; write a later time", text);
	if (rc < 0)
		err_wrap(e, "--now");
	o->now_ms = now.at_ms;
	moment_done(&now);
	zone_free(own);
	return rc;
}

static int take_profile(const char *text, void *options, struct err *e)
{
	(void)e;
	struct overcommit_options *o = options;
	o->has_profile = true;
	o->profile = strcmp(text, "ack") == 0 ? PROFILE_ACK : PROFILE_KOORDINATOR;
	return 0;
}

static int take_help(const char *text, void *options, struct err *e)
{
	(void)text;
	(void)e;
	((struct overcommit_options *)options)->verb = OVERCOMMIT_HELP;
	return 0;
}

static const struct flag flags[] = {
	{FLAG_FILES(struct overcommit_options, files)},
	{FLAG_JSON(struct overcommit_options, json)},
	{FLAG_TAKE("now", 0, take_now)},
	{FLAG_TAKE("profile", 0, take_profile), .value = "ack|koordinator"},
	{FLAG_KUBECONFIG(struct overcommit_options, kube)},
	{FLAG_CONTEXT(struct overcommit_options, kube)},
	{FLAG_OVERCOMMIT_CONFIG(struct overcommit_options, configmap)},
	{FLAG_ALONE("help", 'h', take_help)},
};

const struct flag_table overcommit_flags = {FLAG_TABLE(flags)};

static int take_verb(const char *text, struct overcommit_options *o, struct err *e)
{
	o->verb = strcmp(text, "calc") == 0 ? OVERCOMMIT_CALC : OVERCOMMIT_EXPLAIN;
	if (o->verb == OVERCOMMIT_CALC || strcmp(text, "explain") == 0)
		return 0;
	return err_set(e, ERR_INVALID, "\"%.40s\" is neither calc nor explain", text);
}

static bool is_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
	size_t len = strlen(name);
	return len > 0 && len <= 253 && strspn(name, allowed) == len;
}

static int check(struct overcommit_options *o, struct err *e)
{
	if (o->verb == OVERCOMMIT_CALC && o->files.count == 0)
		return err_set(e, ERR_INVALID, "calc wants files, as in: calc -f nodes.yaml");
	if (o->verb == OVERCOMMIT_CALC && o->node)
		return err_set(e, ERR_INVALID,
			"\"%.60s\" is one name too many; calc shows all nodes of its files",
			o->node);
	if (o->verb == OVERCOMMIT_CALC && (o->kube.kubeconfig || o->kube.context))
		return err_set(e, ERR_INVALID,
			"calc asks no API server, so --kubeconfig and --context say nothing");
	if (o->verb == OVERCOMMIT_EXPLAIN && o->files.count > 0)
		return err_set(e, ERR_INVALID, "explain asks the cluster; of files calc is");
	if (o->verb == OVERCOMMIT_EXPLAIN && !o->node)
		return err_set(e, ERR_INVALID, "explain wants a node, as in: explain worker-1");
	if (o->verb == OVERCOMMIT_EXPLAIN && strncmp(o->node, "node/", 5) == 0)
		o->node += 5;
	if (o->verb == OVERCOMMIT_EXPLAIN && !is_name(o->node))
		return err_set(e, ERR_INVALID, "\"%.100s\" is not the name of a node", o->node);
	return 0;
}

int overcommit_options_parse(int argc, char **argv, struct overcommit_options *ret, struct err *e)
{
	struct overcommit_options o = {
		.verb = OVERCOMMIT_HELP, .configmap = "kube-system/ack-slo-config"};
	bool verb = argc > 1 && argv[1][0] != '-';
	int rc = verb ? take_verb(argv[1], &o, e) : 0;
	if (rc == 0)
		rc = flags_walk(argc, argv, verb ? 2 : 1, &overcommit_flags, &o, e);
	if (rc == 0)
		rc = flags_last_word(argc, argv, &o.node, e);
	if (rc == 0)
		rc = check(&o, e);
	if (rc == 0)
		*ret = o;
	return rc;
}
