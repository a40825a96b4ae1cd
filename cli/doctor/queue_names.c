/*
 * LocalQueues that Jobs name and that are not there. Such a Job is Misconfigured until somebody
 * makes the LocalQueue or corrects the label; an admin sees them all here, with names that may have
 * been meant. Also JobSets whose Jobs are queued one by one, so that some may run while the others
 * wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/similar.h"
#include "cli/commands.h"
#include "cli/doctor/checks.h"
#include "cli/job_object.h"
#include "sluice/keys.h"

#define LOCALQUEUES SLUICE_ROOT "/localqueues"
#define JOBSETS "jobset.x-k8s.io/"
#define QUEUED_JOBS DOCTOR_JOBS "?labelSelector=sluice.dev%2Fqueue-name"

/* "namespace/name" of LocalQueues, in order once names_sort() was called. */
struct names {
	char **name;
	size_t n, room;
};

static void names_add(struct names *s, const char *ns, const char *name)
{
	s->name = mem_room(s->name, s->n, &s->room, 64, sizeof(*s->name));
	size_t size = strlen(ns) + strlen(name) + 2;
	s->name[s->n] = mem_array(size, 1);
	snprintf(s->name[s->n++], size, "%s/%s", ns, name);
}

static void names_sort(struct names *s)
{
	if (s->n > 0)
		qsort(s->name, s->n, sizeof(*s->name), text_order);
}

static void names_done(struct names *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->name[i]);
	free(s->name);
}

struct queue_names {
	const struct doctor_context *context;
	struct names there, wanted; /* wanted: a name for each Job */
	struct names jobsets;	    /* a name for each Job of a JobSet */
};

static void take_localqueue(const cJSON *object, void *ctx)
{
	struct queue_names *x = ctx;
	const cJSON *metadata = json_object(object, "metadata");
	const char *ns = json_text(metadata, "namespace"), *name = json_text(metadata, "name");
	if (ns && name)
		names_add(&x->there, ns, name);
}

/* Returns the JobSet that controls a Job; NULL: none does. */
static const char *jobset_of(const cJSON *metadata)
{
	json_each(owner, json_array(metadata, "ownerReferences")) {
		const char *kind = json_text(owner, "kind");
		const char *version = json_text(owner, "apiVersion");
		if (truth_of(owner, "controller") && kind && version &&
			strcmp(kind, "JobSet") == 0 &&
			strncmp(version, JOBSETS, strlen(JOBSETS)) == 0)
			return json_text(owner, "name");
	}
	return NULL;
}

static void take_job(const cJSON *object, void *ctx)
{
	struct queue_names *x = ctx;
	const cJSON *metadata = json_object(object, "metadata");
	const char *ns = json_text(metadata, "namespace");
	const char *queue = json_text(json_object(metadata, "labels"), QUEUE_LABEL);
	if (!ns || !queue || !*queue || job_object_is_over(object) ||
		doctor_context_exempts(x->context, ns))
		return;
	const char *jobset = jobset_of(metadata);
	names_add(&x->wanted, ns, queue);
	if (jobset)
		names_add(&x->jobsets, ns, jobset);
}

/* Offers the LocalQueues of the namespace that full ("namespace/name") is in. */
static void look_for_similar(const struct queue_names *x, const char *full, struct similar *s)
{
	size_t prefix = strcspn(full, "/") + 1;
	similar_begin(s, full + prefix);
	for (size_t i = 0; i < x->there.n; i++)
		if (strncmp(x->there.name[i], full, prefix) == 0)
			similar_offer(s, x->there.name[i] + prefix);
}

static void tell_missing(
	struct findings *f, const struct queue_names *x, const char *full, size_t jobs)
{
	struct similar s;
	int ns = (int)strcspn(full, "/");
	look_for_similar(x, full, &s);
	const char *meant = similar_best(&s);
	findings_add(f, VERDICT_WARN,
		"%zu Job%s in namespace %.*s name%s LocalQueue %s, which is not there%s%s%s", jobs,
		jobs == 1 ? "" : "s", ns, full, jobs == 1 ? "s" : "", full + ns + 1,
		meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
	findings_cure(f,
		"# make that LocalQueue, or have the label sluice.dev/queue-name name one of these:\n"
		"kubectl -n %.*s get localqueues.sluice.dev",
		ns, full);
}

static size_t names_same(const struct names *s, size_t i)
{
	size_t n = 1;
	while (i + n < s->n && strcmp(s->name[i + n], s->name[i]) == 0)
		n++;
	return n;
}

static void tell_jobsets(struct findings *f, const struct names *all)
{
	for (size_t i = 0, n; i < all->n; i += n) {
		n = names_same(all, i);
		if (n == 1)
			continue;
		findings_add(f, VERDICT_WARN,
			"%zu Jobs of JobSet %s are queued one by one: some may run while the others wait",
			n, all->name[i]);
		findings_cure(f,
			"# give the controller of JobSets the right make-children (docs/policies.md), then make the JobSet anew");
	}
}

static void compare(struct findings *f, const struct queue_names *x)
{
	const struct names *w = &x->wanted;
	for (size_t i = 0, next; i < w->n; i = next) {
		next = i + names_same(w, i);
		if (x->there.n == 0 || !bsearch(&w->name[i], x->there.name, x->there.n,
					       sizeof(*x->there.name), text_order))
			tell_missing(f, x, w->name[i], next - i);
	}
	tell_jobsets(f, &x->jobsets);
	if (f->count == 0)
		findings_ok(f, "each of %zu queued Jobs names a LocalQueue that is there", w->n);
}

void check_queue_names(struct doctor_context *p, struct findings *f)
{
	struct queue_names x = {.context = p};
	struct err e = {""};
	int rc = doctor_context_each(p, LOCALQUEUES, take_localqueue, &x, &e);
	if (rc == 0)
		rc = doctor_context_each(p, QUEUED_JOBS, take_job, &x, &e);
	if (rc < 0) {
		findings_skip(f, "%s", e.text);
	} else {
		names_sort(&x.there);
		names_sort(&x.wanted);
		names_sort(&x.jobsets);
		compare(f, &x);
	}
	names_done(&x.there);
	names_done(&x.wanted);
	names_done(&x.jobsets);
}
