#include "cli/overcommit/options.h"

#include <string.h>

#include "cli/moment.h"
#include "controller/common/clock.h"
#include "queue/calendar/tzdata.h"

static int take_now(const struct flag *f, const char *text, void *to, struct err *e)
{
	struct moment now = {0};
	struct zone *own = tzdata_local();
	int rc = moment_read(text,
		&(struct moment_basis){.about_ms = clock_now_ms(), .zone = own, .last = true}, &now,
		e);
	if (rc == 0 && now.at_ms <= 0)
		rc = err_set(e, ERR_INVALID, "\"%.40s\" is before 1970; write a later time", text);
	if (rc < 0)
		err_wrap(e, "--%s", f->name);
	*(int64_t *)to = now.at_ms;
	moment_done(&now);
	zone_free(own);
	return rc;
}

static int take_profile(const struct flag *f, const char *text, void *options, struct err *e)
{
	(void)e;
	struct overcommit_options *o = options;
	o->has_profile = true;
	o->profile = flag_choice(f->value, text) == 0 ? PROFILE_ACK : PROFILE_KOORDINATOR;
	return 0;
}

static const struct flag rows[] = {
	{FLAG_FILES(struct overcommit_options, files)},
	{FLAG_JSON(struct overcommit_options, json)},
	{FLAG_TAKE_TO("now", take_now, int64_t, struct overcommit_options, now_ms)},
	{FLAG_TAKE("profile", 0, take_profile), .value = "ack|koordinator"},
	{FLAG_OVERCOMMIT_CONFIG(struct overcommit_options, configmap)},
	FLAGS_KUBE(struct overcommit_options, kube),
};

static void begin(void *options)
{
	((struct overcommit_options *)options)->configmap = "kube-system/ack-slo-config";
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
	if (o->verb == OVERCOMMIT_EXPLAIN && flag_check_name("", o->node, NULL) < 0)
		return err_set(e, ERR_INVALID, "\"%.100s\" is not the name of a node", o->node);
	return 0;
}

static int finish(void *options, char **word, size_t nwords, struct err *e)
{
	struct overcommit_options *o = options;
	if (nwords == 0)
		return FLAGS_HELP;
	int verb = flag_choice("calc|explain", word[0]);
	if (verb < 0)
		return err_set(e, ERR_INVALID, "\"%.40s\" is neither calc nor explain", word[0]);
	o->verb = (enum overcommit_verb)verb;
	int rc = flags_one_word(word + 1, nwords - 1, &o->node, e);
	return rc == 0 ? check(o, e) : rc;
}

const struct flag_table overcommit_flags = {
	FLAG_TABLE(rows, struct overcommit_options), .begin = begin, .finish = finish};
