/* The command doctor: asks the API server and Postgres whether all that Sluice needs is right. */
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/doctor/checks.h"
#include "cli/doctor/reconcile.h"

#define OUTPUT_MAX_BYTES ((size_t)16 << 20)

static void report(const struct doctor_options *o, const struct findings *f)
{
	struct buf out;
	struct style style = style_of(stdout);
	buf_init(&out, OUTPUT_MAX_BYTES);
	if (o->json)
		findings_render_json(f, CHECKS_COUNT, &out);
	else
		findings_render_table(f, CHECKS_COUNT, &style, &out);
	fwrite(buf_text(&out), 1, out.len, stdout);
	buf_done(&out);
}

static int examine(struct doctor_context *p)
{
	struct findings *f = mem_array(CHECKS_COUNT, sizeof(*f));
	checks_run(p, f);
	report(p->o, f);
	size_t found = findings_count(f, CHECKS_COUNT);
	for (size_t i = 0; i < CHECKS_COUNT; i++)
		findings_done(&f[i]);
	free(f);
	if (!p->api_answers && !p->pg)
		return CLI_UNREACHABLE;
	return found > 0 ? CLI_FINDINGS : CLI_OK;
}

static int run(const struct doctor_options *o, struct kube_config *config)
{
	struct doctor_context p = {.o = o, .config = config, .loop = ev_loop_new(EVFLAG_AUTO)};
	p.json = json_new(QUESTION_TREE_MAX);
	p.client = question_client(p.loop, config);
	int code = examine(&p);
	reconciliation_free(p.reconciliation);
	PQfinish(p.pg);
	kube_client_free(p.client);
	json_free(p.json);
	ev_loop_destroy(p.loop);
	return code;
}

int command_doctor(void *options)
{
	const struct doctor_options *o = options;
	struct kube_config *config;
	struct err e = {""};
	if (kube_config_load(&o->kube, &config, &e) < 0) {
		fprintf(stderr, "sluice: doctor: %s\n", e.text);
		return CLI_USAGE;
	}
	int code = run(o, config);
	kube_config_free(config);
	return code;
}
