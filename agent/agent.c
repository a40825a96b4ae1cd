#include "agent/agent.h"

#include <ev.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "agent/keeper.h"
#include "agent/lift.h"
#include "agent/link.h"
#include "agent/orders_file.h"
#include "base/must.h"
#include "controller/common/seed.h"
#include "controller/kube/config.h"

enum { EXIT_ENDED = 0, EXIT_FAILED = 1 };

struct agent {
	const struct node_options *options;
	struct log *log;
	struct ev_loop *loop;
	struct kube_config *config;
	struct keeper *keeper;
	struct link_to_leader *link; /* NULL until the tier is this agent's */
	ev_signal term, interrupt;
	char said[LOG_TROUBLE_MAX]; /* why orders are not kept */
};

/* ---- between the keeper and the link --------------------------------------------------------- */

static void on_orders(struct orders *o, struct slice text, void *ctx)
{
	struct agent *a = ctx;
	struct err e = {""};
	if (a->options->state_dir && orders_file_keep(a->options->state_dir, text, &e) < 0)
		log_trouble(a->log, a->said, "orders not kept", e.text,
			"an agent that starts anew waits for the leader");
	else
		a->said[0] = '\0';
	keeper_take_orders(a->keeper, o);
}

static void on_sample(struct buf *out, void *ctx)
{
	keeper_put_sample(((struct agent *)ctx)->keeper, out);
}

static void on_acknowledged(void *ctx)
{
	keeper_acknowledge(((struct agent *)ctx)->keeper);
}

static void start_link(struct agent *a)
{
	struct link_options o = {.loop = a->loop,
		.log = a->log,
		.api = a->config,
		.leader = {a->options->namespace_name, a->options->token_file},
		.have = keeper_generation(a->keeper),
		.seed = seed_draw(),
		.events = {on_orders, on_sample, on_acknowledged, a}};
	a->link = link_new(&o);
}

/* Sends a sample. The first call comes when no other agent holds the tier. */
static void on_report(bool at_once, void *ctx)
{
	struct agent *a = ctx;
	if (!a->link)
		start_link(a);
	link_report(a->link, at_once);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void on_signal(struct ev_loop *loop, ev_signal *s, int revents)
{
	struct agent *a = s->data;
	(void)revents;
	log_event(a->log, LEVEL_INFO, "ends", "effect", "what was held is given back; limits stay",
		NULL);
	ev_break(loop, EVBREAK_ALL);
}

static void listen_for(struct agent *a, ev_signal *s, int number)
{
	ev_signal_init(s, on_signal, number);
	s->data = a;
	ev_signal_start(a->loop, s);
}

/* A pod has about eight files that stay open. */
static void raise_files(void)
{
	struct rlimit r;
	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max < 65536 ? r.rlim_max : 65536;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

/* Takes the orders of before, if any were kept. */
static void recall(struct agent *a)
{
	struct orders *o;
	struct err e = {""};
	int rc = a->options->state_dir ? orders_file_read(a->options->state_dir, &o, &e) : ERR_GONE;
	if (rc == 0)
		keeper_take_orders(a->keeper, o);
	else if (rc != ERR_GONE)
		log_event(a->log, LEVEL_WARN, "no orders of before", "why", e.text, NULL);
}

static int start(struct agent *a, struct err *e)
{
	const struct node_options *o = a->options;
	struct kube_config_options config = {.kubeconfig = o->kubeconfig};
	struct keeper_options keeper = {.loop = a->loop,
		.log = a->log,
		.cgroups = o->cgroups,
		.tier = o->tier,
		.proc = "/proc",
		.report = on_report,
		.ctx = a};
	int rc = kube_config_load(&config, &a->config, e);
	if (rc == 0)
		rc = keeper_new(&keeper, &a->keeper, e);
	if (rc == 0)
		recall(a);
	return rc;
}

int agent_run(const struct node_options *o, struct log *log)
{
	struct agent a = {.options = o, .log = log, .loop = ev_loop_new(EVFLAG_AUTO)};
	struct err e = {""};
	must(a.loop);
	raise_files();
	log_event(log, LEVEL_INFO, "starts", "version", SLUICE_VERSION, NULL);
	int rc = start(&a, &e);
	if (rc == 0) {
		listen_for(&a, &a.term, SIGTERM);
		listen_for(&a, &a.interrupt, SIGINT);
		ev_run(a.loop, 0);
		keeper_give_back(a.keeper);
		ev_signal_stop(a.loop, &a.term);
		ev_signal_stop(a.loop, &a.interrupt);
	} else {
		log_event(log, LEVEL_ERROR, "cannot start", "why", e.text, NULL);
	}
	link_free(a.link);
	keeper_free(a.keeper);
	kube_config_free(a.config);
	ev_loop_destroy(a.loop);
	return rc < 0 ? EXIT_FAILED : EXIT_ENDED;
}

int agent_lift(const struct node_options *o, struct log *log)
{
	struct err e = {""};
	int lifted = lift_all(o->cgroups, o->tier, log, &e);
	if (lifted < 0)
		log_event(log, LEVEL_ERROR, "not lifted", "why", e.text, NULL);
	else
		log_event(log, LEVEL_INFO, "lifted", "#pods", LOG_NUMBER(lifted), NULL);
	return lifted < 0 ? EXIT_FAILED : EXIT_ENDED;
}
