/* What the tests of `sluice doctor` share: a patient whose API server is scripted, and one check at
 * a time. */
#ifndef SLUICE_TEST_CLI_DOCTOR_STAGE_H
#define SLUICE_TEST_CLI_DOCTOR_STAGE_H

#include "cli/doctor/checks.h"
#include "cli/doctor/reconcile.h"
#include "test/unit/kube/test.h"
#include "test/unit/kube/scripted_server.h"

#define STATUS(reason)                                                                             \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"" reason "\",\"reason\":\"x\"}"

struct stage {
	struct scripted_server *server;
	struct kube_config *config;
	struct doctor_options o;
	struct doctor_context p;
	struct findings f;
};

static inline void stage_open(struct stage *s)
{
	*s = (struct stage){.o = {.cell = "default",
				    .namespace_name = "sluice-system",
				    .configmap = "kube-system/ack-slo-config"}};
	s->p = (struct doctor_context){.o = &s->o, .loop = ev_loop_new(EVFLAG_AUTO)};
	s->server = scripted_server_new(s->p.loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->p.config = s->config;
	s->p.json = json_new(QUESTION_TREE_MAX);
	s->p.client = kube_client_new(
		s->p.loop, s->config, &(struct kube_client_options){.user_agent = "test"});
}

static inline void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	findings_done(&s->f);
	reconciliation_free(s->p.reconciliation);
	PQfinish(s->p.pg);
	kube_client_free(s->p.client);
	json_free(s->p.json);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->p.loop);
}

static inline void answer(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status, "", body);
}

/* The check of that name, made anew. */
static inline void examine(struct stage *s, const char *name)
{
	findings_done(&s->f);
	for (size_t i = 0; i < CHECKS_COUNT; i++) {
		if (strcmp(CHECKS[i].name, name) != 0)
			continue;
		s->f = (struct findings){.name = name,
			.group = CHECKS[i].group,
			.looks_at = CHECKS[i].looks_at,
			.usual_cure = mem_strdup(CHECKS[i].cure ? CHECKS[i].cure : "")};
		CHECKS[i].run(&s->p, &s->f);
		return;
	}
	fail_msg("there is no check %s", name);
}

/* What it comes to: the verdict, and a part of the detail or of the only finding. */
static inline void expect(struct stage *s, enum verdict verdict, const char *part)
{
	const char *text = s->f.count > 0 ? s->f.kept[0].text : s->f.detail;
	if (s->f.verdict != verdict || s->f.count != (verdict >= VERDICT_WARN) ||
		!strstr(text, part))
		fail_msg("%s: verdict %d, %zu findings: %s", s->f.name, s->f.verdict, s->f.count,
			text);
	if (s->f.count > 0 && !s->f.kept[0].cure && !*s->f.usual_cure)
		fail_msg("%s has no cure: %s", s->f.name, text);
}

#endif
