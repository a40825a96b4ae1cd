#include "controller/write/provisioner.h"

#include <stdlib.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/common/path.h"
#include "controller/kube/skim.h"
#include "controller/wire/patch.h"
#include "controller/wire/provision_body.h"

enum { BODY_MAX_BYTES = 4 * 1024 * 1024 };

#define REQUESTS "/apis/autoscaling.x-k8s.io/v1/namespaces/%s/provisioningrequests"
#define TEMPLATES "/api/v1/namespaces/%s/podtemplates"

static const char NOT_SERVED[] =
	"the API server serves no ProvisioningRequest (autoscaling.x-k8s.io/v1): install the CRD of cluster-autoscaler, or take spec.provisioning out of the ResourceFlavor";
static const char NO_TEMPLATE[] = "the answer to a dry run of its start has no spec.template";

enum step { STEP_DRY_RUN, STEP_TEMPLATE, STEP_REQUEST, STEP_DELETE_REQUEST, STEP_DELETE_TEMPLATE };

struct errand {
	struct provisioner *provisioner;
	struct link of_all;
	uint64_t id; /* of the intent */
	uint64_t request;
	enum step step;
	struct buf template;	   /* the PodTemplate: up to its template, then all of it */
	struct json_writer writer; /* of template */
	struct buf body;	   /* the ProvisioningRequest */
	char *ns, *name;
};

struct provisioner {
	struct provisioner_options options;
	struct link errands;
	size_t count;
	struct buf path;
};

struct provisioner *provisioner_new(const struct provisioner_options *o)
{
	struct provisioner *p = mem_alloc(sizeof(*p));
	p->options = *o;
	list_init(&p->errands);
	buf_init(&p->path, PATH_MAX_BYTES);
	return p;
}

static void errand_free(struct errand *e)
{
	list_leave(&e->of_all);
	e->provisioner->count--;
	buf_done(&e->template);
	buf_done(&e->body);
	free(e->ns);
	free(e->name);
	free(e);
}

void provisioner_free(struct provisioner *p)
{
	if (!p)
		return;
	while (!list_empty(&p->errands)) {
		struct errand *e = container_of(p->errands.next, struct errand, of_all);
		kube_client_cancel(p->options.client, e->request);
		errand_free(e);
	}
	buf_done(&p->path);
	free(p);
}

size_t provisioner_under_way(const struct provisioner *p)
{
	return p->count;
}

static struct errand *errand_new(struct provisioner *p, const struct intent *i, enum step first)
{
	struct errand *e = mem_alloc(sizeof(*e));
	e->provisioner = p;
	e->id = i->id;
	e->step = first;
	e->ns = mem_strdup(i->ns);
	e->name = mem_strdup(i->provision.name);
	buf_init(&e->template, BODY_MAX_BYTES);
	buf_init(&e->body, BODY_MAX_BYTES);
	list_add(&p->errands, &e->of_all);
	p->count++;
	return e;
}

static void on_answer(const struct kube_answer *a, void *ctx);

static void finish(struct errand *e, const struct job_answer *a)
{
	struct provisioner *p = e->provisioner;
	uint64_t id = e->id;
	errand_free(e);
	p->options.answer(id, a, p->options.ctx);
}

static void send(struct errand *e, enum kube_method method, struct slice body)
{
	struct provisioner *p = e->provisioner;
	struct kube_request request = {
		.method = method,
		.path = buf_text(&p->path),
		.content_type = e->step == STEP_DRY_RUN ? KUBE_JSON_PATCH : NULL,
		.body = body,
	};
	e->request = kube_client_send(p->options.client, &request, on_answer, e);
}

static void send_step(struct errand *e)
{
	struct buf *path = &e->provisioner->path;
	buf_reset(path);
	switch (e->step) {
	case STEP_DRY_RUN:
		must(!"the first step");
		break;
	case STEP_TEMPLATE:
		path_format(path, TEMPLATES, e->ns);
		send(e, KUBE_POST, buf_slice(&e->template));
		break;
	case STEP_REQUEST:
		path_format(path, REQUESTS, e->ns);
		send(e, KUBE_POST, buf_slice(&e->body));
		break;
	case STEP_DELETE_REQUEST:
		path_format(path, REQUESTS "/%s", e->ns, e->name);
		send(e, KUBE_DELETE, (struct slice){0});
		break;
	case STEP_DELETE_TEMPLATE:
		path_format(path, TEMPLATES "/%s", e->ns, e->name);
		send(e, KUBE_DELETE, (struct slice){0});
		break;
	}
}

static bool deletes(const struct errand *e)
{
	return e->step == STEP_DELETE_REQUEST || e->step == STEP_DELETE_TEMPLATE;
}

/* Tells AlreadyExists from a Conflict, where a ResourceQuota was busy, and nothing was made. */
static bool is_there_already(const struct kube_answer *a)
{
	struct slice reason;
	return a->http_status == 409 && skim_member(a->body, "reason", &reason) &&
	       slice_is(reason, "\"AlreadyExists\"");
}

/* Judges an answer. What is there already, or gone, is as good as made or deleted just now. */
static struct job_answer judge(const struct errand *e, const struct kube_answer *a)
{
	struct job_answer answer = e->provisioner->options.judge(a, e->provisioner->options.ctx);
	if (deletes(e) && a->http_status == 404)
		answer.outcome = JOB_DONE;
	if ((e->step == STEP_TEMPLATE || e->step == STEP_REQUEST) && a->http_status == 409)
		answer.outcome = is_there_already(a) ? JOB_DONE : JOB_BUSY;
	return answer;
}

static bool take_template(struct errand *e, struct slice job)
{
	struct slice spec, template;
	if (!skim_member(job, "spec", &spec) || !skim_member(spec, "template", &template))
		return false;
	provision_template_end(&e->writer, template);
	return !e->template.failed;
}

/* Ends the errand: the gate gets its answer. */
static void end(struct errand *e, const struct kube_answer *a, struct job_answer *answer)
{
	if (answer->outcome == JOB_DENIED || answer->outcome == JOB_REFUSED)
		answer->sentence = e->provisioner->options.words(a, e->provisioner->options.ctx);
	if (answer->outcome == JOB_GONE && e->step == STEP_REQUEST) {
		answer->outcome = JOB_DENIED;
		answer->sentence = NOT_SERVED;
	}
	finish(e, answer);
}

static void on_answer(const struct kube_answer *a, void *ctx)
{
	struct errand *e = ctx;
	struct job_answer answer = judge(e, a);
	bool last = e->step == STEP_REQUEST || e->step == STEP_DELETE_TEMPLATE;
	if (answer.outcome != JOB_DONE || last) {
		end(e, a, &answer);
	} else if (e->step == STEP_DRY_RUN && !take_template(e, a->body)) {
		finish(e, &(struct job_answer){.outcome = JOB_DENIED, .sentence = NO_TEMPLATE});
	} else {
		e->step++;
		send_step(e);
	}
}

void provisioner_ask(struct provisioner *p, const struct intent *i)
{
	struct errand *e = errand_new(p, i, STEP_DRY_RUN);
	struct buf patch;
	buf_init(&patch, PATCH_MAX_BYTES);
	patch_render(i, &patch);
	e->writer = provision_template_begin(i, &e->template);
	provision_request_body(i, &e->body);
	buf_reset(&p->path);
	path_format(&p->path, "/apis/batch/v1/namespaces/%s/jobs/%s?dryRun=All", i->ns, i->name);
	if (patch.failed)
		finish(e,
			&(struct job_answer){.outcome = JOB_DENIED,
				.sentence =
					i->template.fault
						? i->template.fault
						: "the patch would be larger than the API server takes"});
	else
		send(e, KUBE_PATCH, buf_slice(&patch));
	buf_done(&patch);
}

void provisioner_delete(struct provisioner *p, const struct intent *i)
{
	send_step(errand_new(p, i, STEP_DELETE_REQUEST));
}
