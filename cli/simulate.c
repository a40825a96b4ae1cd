/* The command simulate: reads a world, plays it, shows what came of it. */
#include <ev.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/simulate/manifest.h"
#include "cli/simulate/options.h"
#include "cli/simulate/engine.h"
#include "cli/simulate/live.h"

#define OUTPUT_MAX_BYTES ((size_t)256 << 20)

static int read_trace(struct world *w, const struct simulate_options *o, struct err *e)
{
	struct trace t;
	int rc = o->trace ? trace_read(o->trace, o->compress, &t, e) : 0;
	if (rc < 0 || !o->trace)
		return rc;
	if (w->live)
		t.start_ms = w->now_ms;
	rc = world_add_trace(w, &t, o->queue, &o->terms, e);
	if (rc == 0 && w->trace.nskipped > 0)
		fprintf(stderr,
			"sluice: %s: %zu jobs are left out: they have no run time or no processors\n",
			o->trace, w->trace.nskipped);
	if (rc == 0 && w->trace.nparts > 0)
		fprintf(stderr,
			"sluice: %s: %zu lines are left out: they are parts of jobs (status 2, 3 or 4), and the line of the whole job counts\n",
			o->trace, w->trace.nparts);
	return rc;
}

static void warn(const struct world *w)
{
	struct buf out;
	buf_init(&out, OUTPUT_MAX_BYTES);
	policy_specs_warn(&w->policy_specs, w->queue, &out);
	fwrite(buf_text(&out), 1, out.len, stderr);
	buf_done(&out);
}

/* Says which lengths are guesses: a Job that never ends costs for ever, and nobody asked for that. */
static void say_lengths(const struct world *w)
{
	if (w->nguessed > 0 && !w->live)
		fprintf(stderr,
			"sluice: %zu Jobs and CronJobs have no sluice.dev/simulate-duration: they take what sluice.dev/expected-duration, activeDeadlineSeconds or --assume-duration says\n",
			w->nguessed);
	if (w->nendless > 0)
		fprintf(stderr,
			"sluice: of %zu Jobs nothing tells how long they take, so they never end here; write sluice.dev/expected-duration on them, or give --assume-duration\n",
			w->nendless);
	if (w->nendless_cronjobs > 0)
		fprintf(stderr,
			"sluice: of %zu CronJobs nothing tells how long their Jobs take, so these never end here; write sluice.dev/expected-duration in spec.jobTemplate, or give --assume-duration\n",
			w->nendless_cronjobs);
}

static int read_files(struct world *w, const struct simulate_options *o, struct err *e)
{
	int rc = 0;
	w->live = o->from_cluster;
	w->assumed_ms = o->assumed_ms;
	for (size_t i = 0; i < o->nmanifests && rc == 0; i++)
		rc = manifest_read(w, o->manifest[i], e);
	return rc;
}

static int read_cluster(
	struct world *w, const struct simulate_options *o, struct live *l, struct err *e)
{
	struct kube_config *config;
	if (kube_config_load(&o->kube, &config, e) < 0)
		return ERR_INVALID;
	struct live_options live = {.loop = ev_loop_new(EVFLAG_AUTO),
		.config = config,
		.config_namespace = o->config_namespace ? o->config_namespace : "sluice-system",
		.assumed_ms = o->assumed_ms,
		.cronjobs = o->has_until};
	int rc = live_read(l, w, &live, e);
	ev_loop_destroy(live.loop);
	kube_config_free(config);
	return rc;
}

static int read_world(
	struct world *w, const struct simulate_options *o, struct live *l, struct err *e)
{
	int rc = read_files(w, o, e);
	if (rc == 0 && o->from_cluster)
		rc = read_cluster(w, o, l, e);
	if (rc == 0)
		rc = read_trace(w, o, e);
	if (rc == 0 && w->ncronjobs > 0 && !o->has_until)
		rc = err_set(e, ERR_INVALID,
			"CronJob %s/%s makes Jobs for ever; say how long with --until, as in --until 24h",
			w->cronjob[0].record->ns, w->cronjob[0].name);
	if (rc == 0)
		rc = world_close(w, e);
	if (rc < 0)
		return rc;
	if (o->from_cluster)
		live_close(l);
	if (w->nunqueued > 0)
		fprintf(stderr,
			"sluice: %zu Jobs are left out: they have no label sluice.dev/queue-name, and their namespace has no LocalQueue named default\n",
			w->nunqueued);
	say_lengths(w);
	warn(w);
	return 0;
}

static int64_t until_ms(const struct world *w, const struct simulate_options *o)
{
	if (!o->has_until)
		return NEVER_MS;
	return o->until_is_time ? o->until_ms : w->start_ms + o->until_ms;
}

static void engine_json(struct world *w, int64_t until, struct summary *s, struct buf *out)
{
	struct journal journal;
	journal_init_json(&journal, w, stdout);
	engine_run(w, until, true, &(struct observers){.summary = s, .journal = &journal});
	journal_done(&journal);
	summary_render_json(s, out);
}

static void engine_svg(struct world *w, int64_t until, struct summary *s, struct buf *out)
{
	struct chart chart;
	chart_init(&chart, w, s);
	engine_run(w, until, true, &(struct observers){.summary = s, .chart = &chart});
	chart_render(&chart, out);
	chart_done(&chart);
}

static void engine_table(struct world *w, int64_t until, struct summary *s, struct buf *out)
{
	struct style style = style_of(stdout);
	struct journal journal;
	journal_init_table(&journal, w, &style);
	engine_run(w, until, true, &(struct observers){.summary = s, .journal = &journal});
	journal_render_table(&journal, out);
	summary_render_table(s, &style, out);
	journal_done(&journal);
}

static void engine(struct world *w, const struct simulate_options *o)
{
	struct summary summary;
	struct buf out;
	summary_init(&summary, w);
	buf_init(&out, OUTPUT_MAX_BYTES);
	switch (o->output) {
	case SIMULATE_TABLE:
		engine_table(w, until_ms(w, o), &summary, &out);
		break;
	case SIMULATE_JSON:
		engine_json(w, until_ms(w, o), &summary, &out);
		break;
	case SIMULATE_SVG:
		engine_svg(w, until_ms(w, o), &summary, &out);
		break;
	}
	fwrite(buf_text(&out), 1, out.len, stdout);
	buf_done(&out);
	summary_done(&summary);
}

/* Prints the complaint, in which a sentence may be the API server's. */
static void complain(const struct err *e)
{
	struct buf text;
	buf_init(&text, 4096);
	text_render_lines(e->text, &text);
	fprintf(stderr, "sluice: %s\n", buf_text(&text));
	buf_done(&text);
}

/* Returns the exit code: a cluster may be out of reach, or a right missing. What is wrong with
 * files is ERR_GONE, too. */
static int code_of(int rc)
{
	if (rc == 0)
		return CLI_OK;
	return rc == ERR_BUSY || rc == ERR_DENIED ? CLI_UNREACHABLE : CLI_USAGE;
}

int command_simulate(void *options)
{
	const struct simulate_options *o = options;
	struct world w;
	struct live live = {0};
	struct err e = {""};
	world_init(&w, &o->settings.config);
	w.uncounted_claims = o->settings.uncounted_claims;
	int rc = read_world(&w, o, &live, &e);
	if (rc == 0)
		engine(&w, o);
	else
		complain(&e);
	if (o->from_cluster)
		live_done(&live);
	world_done(&w);
	return code_of(rc);
}
