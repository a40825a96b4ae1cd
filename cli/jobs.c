/*
 * The command jobs: what Sluice knows of each queued Job, in the order of the queue. The API server
 * is asked with the user's own rights.
 */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/jobs/groups.h"
#include "cli/jobs/named_queue.h"
#include "cli/jobs/options.h"
#include "cli/jobs/pages.h"
#include "cli/jobs/report.h"
#include "cli/jobs/user.h"
#include "cli/question.h"
#include "cli/summary.h"
#include "controller/common/clock.h"

enum { OUTPUT_MAX_BYTES = 512 * 1024 * 1024 };

struct jobs_command {
	const struct jobs_options *o;
	/* Of --mine: the user's name, from the first round on. */
	char user[SUBMITTER_MAX_BYTES + 1];
};

/* Says that there are none, on the standard error as kubectl does: a program may read the other. */
static void say_none(const struct jobs_options *o, const char *ns)
{
	bool chosen = o->queue || o->mine || o->states != JOB_STATE_ANY ||
		      (o->selector && o->selector[0]);
	const char *none = chosen ? "No jobs match these filters" : "No queued Jobs";
	char text[160];
	if (o->all_namespaces)
		snprintf(text, sizeof(text), "%s.\n", none);
	else
		snprintf(text, sizeof(text), "%s in namespace %.63s.\n", none, ns);
	if (o->watch)
		command_print(true, text);
	else
		fputs(text, stderr);
}

/* Refuses the queue of -q where it is not there. Below 0: there is none of that name. */
static int check_queue(struct ev_loop *loop, struct kube_client *client, const char *ns,
	const struct jobs_options *o, struct err *e)
{
	if (!o->queue || o->watch)
		return 0;
	int rc = jobs_named_queue_look(loop, client, o->all_namespaces ? NULL : ns, o->queue, e);
	if (rc == ERR_GONE)
		return rc;
	if (rc < 0)
		fprintf(stderr, "sluice: %s\n", e->text);
	return 0;
}

static int show_jobs(struct ev_loop *loop, struct kube_client *client, const char *ns,
	const struct jobs_command *c)
{
	const struct jobs_options *o = c->o;
	struct buf out;
	struct err e = {""};
	struct jobs_report *report = jobs_report_new(&(struct jobs_report_options){
		o->output, o->all_namespaces, o->states, clock_now_ms(), style_of(stdout)});
	buf_init(&out, OUTPUT_MAX_BYTES);
	const char *user = o->mine ? c->user : NULL;
	int rc = jobs_pages_read(loop, client, ns, user, o, report, &e), code = CLI_OK;
	if (rc == 0 && jobs_report_count(report) == 0)
		rc = check_queue(loop, client, ns, o, &e);
	if (rc == 0) {
		jobs_report_render(report, &out);
		command_print(o->watch, buf_text(&out));
		if (jobs_report_count(report) == 0 && o->output != OUTPUT_JSON)
			say_none(o, ns);
	} else {
		code = command_end(rc, &out, &e);
	}
	jobs_report_free(report);
	buf_done(&out);
	return code;
}

static int show_groups(struct ev_loop *loop, struct kube_client *client, const char *ns,
	const struct jobs_options *o)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	struct style style = style_of(stdout);
	struct buf out;
	struct err e = {""};
	const cJSON *summary;
	buf_init(&out, OUTPUT_MAX_BYTES);
	int rc = summary_ask(
		loop, client, o->all_namespaces ? NULL : ns, o->group, json, &summary, &e);
	int code = rc ? command_end(rc, &out, &e) : CLI_OK;
	if (rc == 0 && o->output == OUTPUT_JSON) {
		json_print(&out, summary);
		buf_putc(&out, '\n');
	} else if (rc == 0) {
		groups_render(summary, o->all_namespaces, clock_now_ms(), &style, &out);
	}
	command_print(o->watch, buf_text(&out));
	if (rc == 0 && out.len == 0)
		say_none(o, ns);
	buf_done(&out);
	json_free(json);
	return code;
}

static int show(struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx)
{
	struct jobs_command *c = ctx;
	struct err e = {""};
	if (c->o->group)
		return show_groups(loop, client, ns, c->o);
	int rc = c->o->mine && !*c->user ? jobs_user_read(loop, client, c->user, &e) : 0;
	return rc < 0 ? command_fail(rc, &e) : show_jobs(loop, client, ns, c);
}

int command_jobs(void *options)
{
	struct jobs_command c = {.o = options};
	return question_command(&c.o->kube, c.o->namespace_name, c.o->watch, show, &c);
}
