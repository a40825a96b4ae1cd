/*
 * The command: Jobs that run come into a queue, and are not stopped for it (docs/adopt.md). First the
 * controllers are looked at, then the admin's permission is written on the Namespace, then the label
 * on each Job, which the policies of the API server allow by that permission alone. The controller
 * does the rest; when it has, the permission is taken back. If we end before that it stays, and no
 * Job is stopped.
 */
#include <ev.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/adopt/controllers.h"
#include "cli/adopt/options.h"
#include "cli/adopt/outcome.h"
#include "cli/adopt/permission.h"
#include "cli/adopt/plan.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/import/metadata.h"
#include "cli/question.h"
#include "controller/gate/newcomer.h"
#include "controller/wire/labels.h"

enum { BODY_MAX = 64 * 1024, PATH_SIZE = 700, OUTPUT_MAX = 16 * 1024 * 1024, HEARSAY_SECONDS = 1 };

/* The version is tested: a Job that has become another since is looked at again first. */
static int label_job(struct ev_loop *loop, struct kube_client *client, const struct adopt_plan *p,
	const struct adopt_row *r, struct err *e)
{
	char path[PATH_SIZE];
	struct buf body;
	snprintf(path, sizeof(path), "/apis/batch/v1/namespaces/%.253s/jobs/%.253s",
		p->namespace_name, r->name);
	buf_init(&body, BODY_MAX);
	buf_puts(&body, "{\"metadata\":{\"resourceVersion\":");
	buf_json_string(&body, r->version);
	buf_puts(&body, ",\"labels\":{\"" QUEUE_LABEL "\":");
	buf_json_string(&body, r->queue);
	if (r->has_kueue_label)
		buf_puts(&body, ",\"" KUEUE_DOMAIN "/queue-name\":null");
	/* Its reservation is for the pods that it has, and one that terminates is still one: before
	 * Kubernetes 1.36 no policy of the API server sees to that. */
	buf_puts(&body, "}},\"spec\":{\"podReplacementPolicy\":\"Failed\"}}");
	int rc = question_patch(loop, client, path, KUBE_MERGE_PATCH, &body, NULL, e);
	buf_done(&body);
	return rc;
}

/* One that is refused keeps no other from it. The policies go by what their API server has heard of
 * the Namespace: a permission that was just written may be a moment late there. */
static void label_jobs(
	struct ev_loop *loop, struct kube_client *client, struct adopt_plan *p, bool just_permitted)
{
	for (size_t i = 0; i < p->nrows; i++) {
		struct adopt_row *r = &p->row[i];
		struct err refused;
		int rc = r->takes ? label_job(loop, client, p, r, &refused) : 0;
		if (rc == ERR_DENIED && just_permitted) {
			just_permitted = false;
			nanosleep(&(struct timespec){.tv_sec = HEARSAY_SECONDS}, NULL);
			rc = label_job(loop, client, p, r, &refused);
		}
		if (rc == 0)
			continue;
		r->takes = false;
		snprintf(r->why, sizeof(r->why), "%s%s", refused.text,
			r->has_kueue_label && strstr(refused.text, KUEUE_DOMAIN)
				? " (Kueue's webhook keeps its label on a Job that runs: docs/adopt.md, Jobs of Kueue)"
				: "");
	}
}

/* What is left of the permission, and why. */
struct aftermath {
	bool left; /* to be taken back by hand */
	char words[1000];
};

static void leave_permission(struct aftermath *a, const struct adopt_plan *p, const char *why)
{
	a->left = true;
	snprintf(a->words, sizeof(a->words),
		"The permission stays: %s. Take it back when each Job has its Event Adopted, not earlier (a labelled Job without it is stopped):\n"
		"    kubectl annotate namespace %s " ADOPT_ANNOTATION "-\n",
		why, p->namespace_name);
}

static void end_permission(struct ev_loop *loop, struct kube_client *client,
	const struct adopt_plan *p, const struct adopt_permission *given,
	const struct adopt_needy *needy, struct aftermath *ret)
{
	char why[700];
	bool gone = false;
	struct err e;
	if (needy->count > 0) {
		snprintf(why, sizeof(why),
			"Job %.253s%s runs, is in a queue and is not adopted yet", needy->first,
			needy->count > 1 ? ", and not it alone," : "");
		leave_permission(ret, p, why);
	} else if (!given->ours) {
		snprintf(why, sizeof(why), "it was there before (%s)", given->text);
		leave_permission(ret, p, why);
		ret->left = false;
	} else if (adopt_permission_take_back(loop, client, p->namespace_name, given, &gone, &e) <
		   0) {
		leave_permission(ret, p, e.text);
	} else if (!gone) {
		leave_permission(ret, p, "somebody has written another meanwhile");
	} else {
		snprintf(ret->words, sizeof(ret->words),
			"The permission (annotation " ADOPT_ANNOTATION
			" of the Namespace) is taken back.\n");
	}
}

static int carry_out(struct ev_loop *loop, struct kube_client *client,
	const struct adopt_options *o, struct adopt_plan *p, struct aftermath *ret, struct err *e)
{
	struct adopt_permission given;
	struct adopt_needy needy;
	struct err unseen;
	int rc = o->force ? 0 : adopt_controllers_check(loop, client, o->controller_namespace, e);
	if (rc == 0)
		rc = adopt_permission_give(
			loop, client, p->namespace_name, p->begun_by_ms, &given, e);
	if (rc < 0)
		return rc;
	label_jobs(loop, client, p, given.ours);
	if (adopt_outcome_wait(loop, client, p, o->timeout_ms, stderr, &needy, &unseen) < 0)
		leave_permission(ret, p, unseen.text);
	else
		end_permission(loop, client, p, &given, &needy, ret);
	return 0;
}

/* Jobs that are as they were meant to be: adopted, or with --dry-run, such as would be. */
static size_t count_taken(const struct adopt_plan *p, bool dry_run)
{
	size_t n = 0;
	for (size_t i = 0; i < p->nrows; i++)
		n += p->row[i].takes && (dry_run || p->row[i].outcome == ADOPT_ADOPTED);
	return n;
}

/* Those that ended by themselves leave nothing to do. */
static size_t count_left_out(const struct adopt_plan *p, bool dry_run)
{
	size_t n = p->nrows - count_taken(p, dry_run);
	for (size_t i = 0; i < p->nrows; i++)
		n -= p->row[i].takes && !dry_run && p->row[i].outcome == ADOPT_ENDED;
	return n;
}

static void render_state(struct table *t, const struct adopt_row *r, bool dry_run)
{
	bool decided = !dry_run && r->outcome != ADOPT_ADOPTED;
	if (!r->takes)
		table_cellf(t, COLOUR_YELLOW, "not adopted: %s", r->why);
	else if (decided && r->outcome == ADOPT_ENDED)
		table_cell(t, COLOUR_NONE, r->why);
	else if (decided)
		table_cellf(t, COLOUR_YELLOW, "labelled, not adopted%s: %s",
			r->outcome == ADOPT_STOPPED ? "" : " yet", r->why);
	else if (r->over[0])
		table_cellf(t, COLOUR_YELLOW, "over quota: %s", r->over);
	else
		table_cell(t, COLOUR_GREEN, "fits");
}

static void render(const struct adopt_plan *p, bool dry_run, const char *words, struct buf *out)
{
	struct style style = style_of(stdout);
	static const char *const heads[] = {"JOB", "QUEUE", "HOLDS", "", NULL};
	struct table *t = table_new(&style);
	for (size_t i = 0; heads[i]; i++)
		table_cell(t, COLOUR_DIM, heads[i]);
	table_end_row(t);
	for (size_t i = 0; i < p->nrows; i++) {
		const struct adopt_row *r = &p->row[i];
		table_cell(t, COLOUR_BOLD, r->name);
		table_cell(t, COLOUR_NONE, r->queue ? r->queue : "-");
		table_cell(t, COLOUR_NONE, r->takes ? r->holds : "-");
		render_state(t, r, dry_run);
		table_end_row(t);
	}
	if (p->nrows > 0)
		table_render(t, out);
	table_free(t);
	buf_printf(out, "%zu of %zu %s of namespace %s %s\n%s", count_taken(p, dry_run), p->nrows,
		p->nrows == 1 ? "Job" : "Jobs", p->namespace_name,
		dry_run ? "would be adopted; nothing was changed" : "adopted", words);
}

static int adopt_run(const struct adopt_options *o, const struct kube_config *config,
	struct buf *out, bool *ret_left_out, struct err *e)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct adopt_plan plan = {0};
	struct aftermath aftermath = {0};
	struct kube_client *client = kube_client_new(loop, config,
		&(struct kube_client_options){
			.user_agent = "sluice", .answer_ceiling = QUESTION_ANSWER_MAX});
	int rc = adopt_plan_make(loop, client, o, &plan, e);
	if (rc == 0 && !o->dry_run && plan.begun_by_ms > 0)
		rc = carry_out(loop, client, o, &plan, &aftermath, e);
	if (rc == 0) {
		render(&plan, o->dry_run, aftermath.words, out);
		*ret_left_out = aftermath.left || count_left_out(&plan, o->dry_run) > 0;
	}
	adopt_plan_done(&plan);
	kube_client_free(client);
	ev_loop_destroy(loop);
	return rc;
}

int command_adopt(int argc, char **argv)
{
	struct adopt_options o;
	struct kube_config *config;
	struct buf out;
	struct err e = {""};
	bool left_out = false;
	if (adopt_options_parse(argc, argv, &o, &e) < 0) {
		fprintf(stderr, "sluice: adopt: %s; see sluice help adopt\n", e.text);
		return CLI_USAGE;
	}
	if (o.help) {
		help_print(COMMAND_ADOPT, stdout);
		return CLI_OK;
	}
	buf_init(&out, OUTPUT_MAX);
	int rc = kube_config_load(&o.kube, &config, &e) < 0 ? ERR_INVALID : 0;
	if (rc == 0) {
		if (!o.namespace_name)
			o.namespace_name = config->namespace_name;
		rc = adopt_run(&o, config, &out, &left_out, &e);
		kube_config_free(config);
	}
	int code = command_end(rc, &out, &e);
	buf_done(&out);
	return code == CLI_OK && left_out ? CLI_FINDINGS : code;
}
