/*
 * The command adopt: running Jobs come into a queue without being stopped (docs/migrate.md). This
 * file asks, and tells the outcome; adopt/carry_out.h has the order in which things are written.
 */
#include <stdio.h>

#include "cli/adopt/carry_out.h"
#include "cli/adopt/options.h"
#include "cli/adopt/plan.h"
#include "cli/commands.h"
#include "cli/question.h"

enum { OUTPUT_MAX = 16 * 1024 * 1024 };

/* Counts the Jobs that were adopted, or with --dry-run would be. */
static size_t count_taken(const struct adopt_plan *p, bool dry_run)
{
	size_t n = 0;
	for (size_t i = 0; i < p->nrows; i++)
		n += p->row[i].takes && (dry_run || p->row[i].outcome == ADOPT_ADOPTED);
	return n;
}

/* Counts the Jobs that were not adopted. A Job that ended by itself leaves nothing to do. */
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
	struct table *t = table_new(&style);
	table_head(t, "JOB|QUEUE|HOLDS|");
	for (size_t i = 0; i < p->nrows; i++) {
		const struct adopt_row *r = &p->row[i];
		table_cell(t, COLOUR_BOLD, r->name);
		table_cell_or_none(t, COLOUR_NONE, r->queue);
		table_cell(t, COLOUR_NONE, r->takes ? r->holds : "-");
		render_state(t, r, dry_run);
		table_end_row(t);
	}
	if (p->nrows > 0)
		table_render(t, out);
	table_free(t);
	if (p->unseen[0] && p->nrows > 0)
		buf_printf(out, "%s\n", p->unseen);
	buf_printf(out, "%zu of %zu %s of namespace %s %s\n%s", count_taken(p, dry_run), p->nrows,
		p->nrows == 1 ? "Job" : "Jobs", p->namespace_name,
		dry_run ? "would be adopted; nothing was changed" : "adopted", words);
}

static int ask(struct ev_loop *loop, struct kube_client *client, const char *namespace_name,
	void *options, struct buf *out, struct err *e)
{
	struct adopt_options *o = options;
	struct adopt_plan plan = {0};
	struct adopt_aftermath aftermath = {0};
	o->namespace_name = namespace_name;
	int rc = adopt_plan_make(loop, client, o, &plan, e);
	if (rc == 0 && !o->dry_run && plan.begun_by_ms > 0)
		rc = adopt_carry_out(loop, client, o, &plan, stderr, &aftermath, e);
	if (rc == 0) {
		render(&plan, o->dry_run, aftermath.words, out);
		o->left_out = aftermath.left || count_left_out(&plan, o->dry_run) > 0;
	}
	adopt_plan_done(&plan);
	return rc;
}

int command_adopt(void *options)
{
	struct adopt_options *o = options;
	int code = question_answer(&o->kube, o->namespace_name, OUTPUT_MAX, ask, o);
	return code == CLI_OK && o->left_out ? CLI_FINDINGS : code;
}
