/*
 * Prints the address of each function of the queue that is entered in the life of one ordinary Job, from the call that
 * tells of it to the one that says that it has ended; with the word `preemption`, of one that has to stop a lesser run
 * first. All of queue/ is compiled for this without inlining and with a hook at each entry, but for inline functions of
 * headers. entered.py reads what is printed.
 */
#include <stdio.h>
#include <string.h>

#include "test/unit/queue/worlds.h"

#define HOOK __attribute__((no_instrument_function))
#define SEEN_MAX 4096

static void *seen[SEEN_MAX];
static size_t nseen;
static bool looks;

void __cyg_profile_func_enter(void *function, void *site) HOOK;
void __cyg_profile_func_exit(void *function, void *site) HOOK;

void __cyg_profile_func_enter(void *function, void *site)
{
	(void)site;
	for (size_t i = 0; looks && i < nseen; i++)
		if (seen[i] == function)
			return;
	if (looks && nseen < SEEN_MAX)
		seen[nseen++] = function;
}

void __cyg_profile_func_exit(void *function, void *site)
{
	(void)function;
	(void)site;
}

static const struct resource one = {.name = "cpu", .amount = 1000};
static const struct container one_core = {.requests = {&one, 1}};

static void add(struct queue *q, uint32_t n, const char *class)
{
	struct job j = fixture_job(n, &one_core);
	j.created_ms = n;
	j.priority_class = class;
	queue_set_job(q, &j);
}

static size_t decide(struct queue *q, int64_t now_ms, struct decision *ret)
{
	int64_t next_ms;
	return queue_decide(q, now_ms, ret, 8, &next_ms);
}

static void run(struct queue *q, uint32_t n, int64_t now_ms)
{
	struct uid uid = fixture_uid(n);
	queue_confirm_job(q, &uid, now_ms);
	queue_ready_job(q, &uid, true, now_ms + 1);
}

/* Its quota is held by a run of a lower priority, which is stopped for it. */
static bool displace(struct queue *q, struct decision *d)
{
	struct uid lesser = fixture_uid(1);
	if (decide(q, 3000, d) != 1 || d->kind != DECISION_STOP)
		return false;
	queue_leaving_job(q, &lesser);
	queue_release_job(q, &lesser, 3500, 0);
	return true;
}

static struct queue *queue_of_one_core(enum preemption_policy within)
{
	static const struct priority_spec high = {PRIORITY_WORKLOAD, "high", .value = 100};
	static const char *const resource[] = {"cpu"};
	struct quota_spec quota = {"cpu", 1000, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	struct flavor_quota_spec flavor = {"spot", &quota, 1};
	struct resource_group_spec group = {resource, 1, &flavor, 1};
	struct clusterqueue_spec batch = {.name = "batch",
		.cohort = "",
		.groups = &group,
		.ngroups = 1,
		.has_namespace_selector = true,
		.preemption.within_clusterqueue = within};
	struct queue *q = fixture_new(0, 0);
	queue_set_priority(q, &high);
	queue_set_clusterqueue(q, &batch, NULL);
	return q;
}

int main(int argc, char **argv)
{
	bool preempts = argc > 1 && strcmp(argv[1], "preemption") == 0;
	struct queue *q = queue_of_one_core(preempts ? PREEMPT_LOWER_PRIORITY : PREEMPT_NEVER);
	struct uid uid = fixture_uid(2);
	struct decision d[8];
	decide(q, 1000, d);
	if (preempts) {
		add(q, 1, "");
		decide(q, 2000, d);
		run(q, 1, 2000);
	}
	looks = true;
	add(q, 2, preempts ? "high" : "");
	bool ok = !preempts || displace(q, d);
	ok = ok && decide(q, 4000, d) == 1 && d[0].kind == DECISION_START;
	run(q, 2, 4000);
	queue_end_job(q, &uid, 5000);
	looks = false;
	for (size_t i = 0; i < nseen; i++)
		printf("%p\n", seen[i]);
	queue_free(q);
	return ok ? 0 : 1;
}
