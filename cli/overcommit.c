/* The command overcommit: what nodes may lend, and why that much; of YAML files, or of a node of a
 * cluster. */
#include <ev.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/overcommit/account.h"
#include "cli/overcommit/cluster.h"
#include "cli/overcommit/options.h"
#include "cli/overcommit/report.h"
#include "controller/common/clock.h"

#define OUTPUT_MAX_BYTES ((size_t)256 << 20)

static int read_cluster(const struct overcommit_options *o, struct snapshot *s, struct err *e)
{
	struct kube_config *config;
	if (kube_config_load(&o->kube, &config, e) < 0)
		return ERR_INVALID;
	struct overcommit_cluster c = {ev_loop_new(EVFLAG_AUTO), config, o->configmap};
	int rc = overcommit_cluster_read(&c, o->node, s, e);
	ev_loop_destroy(c.loop);
	kube_config_free(config);
	return rc;
}

static int read_files(const struct overcommit_options *o, struct snapshot *s, struct err *e)
{
	for (size_t i = 0; i < o->files.count; i++)
		if (snapshot_read(s, o->files.text[i], e) < 0)
			return ERR_INVALID;
	if (s->nnodes == 0)
		return err_set(e, ERR_GONE, "there is no Node in these files");
	return 0;
}

static void report(const struct overcommit_options *o, const struct snapshot *s, struct buf *out)
{
	struct account a;
	struct style style = style_of(stdout);
	bool live = o->verb == OVERCOMMIT_EXPLAIN;
	int64_t now_ms = o->now_ms ? o->now_ms : clock_now_ms();
	for (size_t i = 0; i < s->nnodes; i++) {
		account_make(
			s, &s->node[i], now_ms, o->has_profile ? &o->profile : NULL, !live, &a);
		if (o->json)
			report_account_json(&a, live, now_ms, out);
		else
			report_account(&a, live, now_ms, &style, out);
	}
}

/* Notes what is in the files and counts nowhere. */
static void note_strays(struct snapshot *s)
{
	size_t pods = 0, usages = 0;
	for (size_t i = 0; i < s->npods; i++)
		pods += !*s->pod[i]->node;
	for (size_t i = 0; i < s->nusages; i++)
		usages += !s->usage[i].known;
	if (pods > 0)
		buf_printf(&s->notes, "Pods on no node (spec.nodeName), not counted: %zu\n", pods);
	if (usages > 0)
		buf_printf(&s->notes,
			"samples of pods that are not in the files, counted as use of their node: %zu\n",
			usages);
}

static int run(const struct overcommit_options *o, struct buf *out, struct err *e)
{
	struct snapshot s;
	snapshot_init(&s);
	int rc = o->verb == OVERCOMMIT_EXPLAIN ? read_cluster(o, &s, e) : read_files(o, &s, e);
	if (rc == 0)
		rc = snapshot_close(&s, e);
	if (rc == 0)
		report(o, &s, out);
	if (rc == 0 && o->verb == OVERCOMMIT_CALC)
		note_strays(&s);
	if (rc == 0 && s.notes.len > 0)
		fprintf(stderr, "%s", buf_text(&s.notes));
	snapshot_done(&s);
	return rc;
}

int command_overcommit(void *options)
{
	struct buf out;
	struct err e = {""};
	buf_init(&out, OUTPUT_MAX_BYTES);
	int rc = run(options, &out, &e);
	int code = command_end(rc, &out, &e);
	buf_done(&out);
	return code;
}
