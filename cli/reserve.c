/*
 * The command reserve: makes an AdvanceReservation of a line that a person can remember. Before
 * that it shows what is reserved and when, what the queue would say, and which starts would move.
 * The person is asked, and the queue's verdict is waited for.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/import/accepted.h"
#include "cli/import/yaml_text.h"
#include "cli/live_object.h"
#include "cli/question.h"
#include "cli/reserve/carry_out.h"
#include "cli/reserve/options.h"
#include "cli/reserve/plan.h"
#include "cli/reserve/report.h"
#include "cli/whatif/changes.h"
#include "cli/whatif/report.h"
#include "controller/common/clock.h"
#include "queue/calendar/tzdata.h"

enum {
	OUTPUT_MAX_BYTES = 8 << 20,
	REVIEW_ROUNDS = 5, /* while others ask, too */
	REVIEW_PAUSE_MS = 2000,
	VERDICT_ROUNDS = 20,
	VERDICT_PAUSE_MS = 500,
	NOT_RESERVED = 1, /* the exit code where the queue or the person says no */
};

struct reserve_command {
	const struct reserve_options *o;
	struct ev_loop *loop;	    /* NULL: no server is to be asked */
	struct kube_client *client; /* NULL where loop is */
	int code;		    /* exit code, where nothing failed */
};

/* Prints what is known so far: it can be read before the next answer is there. */
static void print(struct buf *out)
{
	fwrite(buf_text(out), 1, out->len, stdout);
	fflush(stdout);
	buf_reset(out);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static int make_plan(const struct reserve_command *c, struct reserve_plan *p, struct err *e)
{
	const struct live_kind *kind = live_kind_by_name(slice_of("clusterqueue"));
	struct json *json = json_new(QUESTION_TREE_MAX);
	struct zone *own = tzdata_local();
	const cJSON *clusterqueue = NULL;
	int rc = 0;
	if (reserve_plan_wants_queue(c->o))
		rc = live_object_get(
			c->loop, c->client, kind, "", c->o->queue, json, &clusterqueue, e);
	if (rc == 0)
		rc = reserve_plan_make(c->o, clusterqueue, clock_now_ms(), own, p, e);
	zone_free(own);
	json_free(json);
	return rc;
}

static int check_object(const cJSON *object, struct err *e)
{
	struct accepted accepted = {0};
	int rc = accepted_check(&accepted, "AdvanceReservation", object, e);
	accepted_done(&accepted);
	return rc;
}

static void print_object(const struct reserve_command *c, const cJSON *object)
{
	struct buf out;
	buf_init(&out, OUTPUT_MAX_BYTES);
	if (c->o->output == RESERVE_YAML) {
		yaml_print(&out, object);
	} else {
		json_print(&out, object);
		buf_putc(&out, '\n');
	}
	print(&out);
	buf_done(&out);
}

/* ---- before it is made ----------------------------------------------------------------------- */

static int ask_review(
	const struct reserve_command *c, const cJSON *object, struct buf *out, struct err *e)
{
	const struct changes_source from = {c->loop, c->client, ""};
	const struct changes_patience patience = {REVIEW_ROUNDS, REVIEW_PAUSE_MS};
	struct changes *changes = changes_new(&from);
	struct json *json = json_new(QUESTION_TREE_MAX);
	struct style style = style_of(stdout);
	const struct whatif_report_options o = {c->o->all, clock_now_ms(), &style};
	const cJSON *root;
	int rc = changes_add_object(changes, object, "the command line", e);
	if (rc == 0)
		rc = changes_ask(&from, changes, &patience, json, &root, e);
	if (rc == 0)
		whatif_report_render(root, &o, out);
	json_free(json);
	changes_free(changes);
	return rc;
}

/* Shows the review. A user without the right to it may reserve all the same. */
static void review(const struct reserve_command *c, const cJSON *object, struct buf *out)
{
	struct err e = {""};
	buf_putc(out, '\n');
	if (ask_review(c, object, out, &e) < 0) {
		buf_puts(out, "Its cost and its effect on other starts are not known: ");
		text_render(e.text, out);
		buf_putc(out, '\n');
	}
	print(out);
}

static bool is_yes(const char *line)
{
	size_t len = strcspn(line, "\r\n");
	return (len == 1 && strncasecmp(line, "y", 1) == 0) ||
	       (len == 3 && strncasecmp(line, "yes", 3) == 0);
}

/* Asks the person. False: the exit code says why. */
static bool confirm(struct reserve_command *c)
{
	char line[16] = "";
	if (c->o->yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		fputs("sluice: reserve: there is no terminal to ask on, so nothing was reserved; --yes reserves without a question\n",
			stderr);
		c->code = CLI_USAGE;
		return false;
	}
	fputs("Reserve? [y/N] ", stderr);
	if (fgets(line, sizeof(line), stdin) && is_yes(line))
		return true;
	fputs("Nothing was reserved.\n", stderr);
	c->code = NOT_RESERVED;
	return false;
}

/* ---- it is made ------------------------------------------------------------------------------ */

static int code_of(enum reserve_verdict v)
{
	switch (v) {
	case RESERVE_ACCEPTED:
		return CLI_OK;
	case RESERVE_REFUSED:
		return NOT_RESERVED;
	case RESERVE_UNJUDGED:
		break;
	}
	return CLI_UNREACHABLE;
}

static int wait_for_verdict(
	struct reserve_command *c, const char *name, struct buf *out, struct err *e)
{
	const struct reserve_patience patience = {VERDICT_ROUNDS, VERDICT_PAUSE_MS};
	struct json *json = json_new(QUESTION_TREE_MAX);
	const cJSON *object = NULL;
	enum reserve_verdict v;
	int rc = reserve_wait(c->loop, c->client, name, &patience, json, &object, &v, e);
	if (rc == 0) {
		reserve_report_render(name, object, v, out);
		c->code = code_of(v);
		print(out);
	} else {
		err_wrap(e, "AdvanceReservation %.100s is created, but its state is not known",
			name);
	}
	json_free(json);
	return rc;
}

static int show_and_make(
	struct reserve_command *c, const struct reserve_plan *p, const cJSON *object, struct err *e)
{
	struct buf out;
	int rc = 0;
	buf_init(&out, OUTPUT_MAX_BYTES);
	reserve_plan_render(p, &out);
	if (c->o->dry_run)
		buf_printf(&out, "Nothing was reserved (dry run).\n");
	print(&out);
	if (!c->o->dry_run) {
		review(c, object, &out);
		if (confirm(c)) {
			rc = reserve_create(c->loop, c->client, object, e);
			if (rc == 0)
				rc = wait_for_verdict(c, p->name, &out, e);
		}
	}
	buf_done(&out);
	return rc;
}

static int run(
	struct ev_loop *loop, struct kube_client *client, const char *ns, void *ctx, struct err *e)
{
	struct reserve_command *c = ctx;
	struct reserve_plan p = {0};
	(void)ns;
	c->loop = loop;
	c->client = client;
	int rc = make_plan(c, &p, e);
	if (rc < 0)
		return rc;
	cJSON *object = reserve_plan_object(&p);
	rc = check_object(object, e);
	if (rc == 0 && c->o->output != RESERVE_TEXT)
		print_object(c, object);
	else if (rc == 0)
		rc = show_and_make(c, &p, object, e);
	cJSON_Delete(object);
	reserve_plan_done(&p);
	return rc;
}

/* Runs the command; a dry run in which all is written needs no server. */
static int run_somewhere(struct reserve_command *c, struct err *e)
{
	if (c->o->dry_run && !reserve_plan_wants_queue(c->o))
		return run(NULL, NULL, "", c, e);
	return question_run(&c->o->kube, NULL, run, c, e);
}

int command_reserve(void *options)
{
	struct reserve_command c = {.o = options};
	struct buf nothing;
	struct err e = {""};
	buf_init(&nothing, 1); /* all was printed as it came */
	int code = command_end(run_somewhere(&c, &e), &nothing, &e);
	buf_done(&nothing);
	return code == CLI_OK ? c.code : code;
}
