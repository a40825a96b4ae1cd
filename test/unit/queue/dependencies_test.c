/*
 * Jobs that wait for Jobs: what scenarios cannot show well.
 *
 *   restarts    a queue that saw every event, and one that is made anew and reads the list of all
 *               Jobs of a name, come to the same verdicts
 *   costs       a long chain, a thousand followers that fail at once, selectors that take all
 *   bounds      of what one namespace can make the queue keep, ask or say
 *   singletons  never two of a family, and no taking turns for ever
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fixture.h"
#include "queue/core.h"
#include "queue/rules/dependencies/dependency_wait.h"

static const struct resource one = {"cpu", 1000};
static const struct container c = {.requests = {&one, 1}};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

static struct dependency after_name(enum dependency_kind k, const char *name)
{
	return (struct dependency){.kind = k, .name = name, .text = name};
}

static const struct workload *workload(const struct queue *q, uint32_t n)
{
	struct uid uid = fixture_uid(n);
	return queue_find_workload(q, &uid);
}

/* A follower that waits for the items. */
static void set_follower(struct queue *q, uint32_t n, const char *name, int64_t created_ms,
	const struct dependency *item, size_t count)
{
	struct job j = fixture_job(n, &c);
	j.name = name;
	j.created_ms = created_ms;
	j.after.item = item;
	j.after.count = count;
	queue_set_job(q, &j);
}

/* ---- Restarts -------------------------------------------------------------------------------- */

enum { NAMES = 3, HISTORY = 60, FOLLOWERS = 24, STEPS = 120 };

static const char *const NAME[NAMES] = {"prep", "train", "clean"};

struct past_job { /* of some name */
	struct predecessor p;
	bool forgotten; /* deleted before it was started */
};

struct history {
	uint64_t seed;
	int64_t now_ms;
	struct past_job job[HISTORY];
	size_t njobs;
	struct dependency item[FOLLOWERS];
	int64_t created_ms[FOLLOWERS];
	size_t nfollowers;
	bool forgets_creation; /* the ledger does not know when a Job was created that is gone */
};

/* The Job that has this name now; NULL: none. */
static struct past_job *alive(struct history *h, const char *name)
{
	for (size_t i = h->njobs; i-- > 0;)
		if (h->job[i].p.name == name && !h->job[i].p.gone)
			return &h->job[i];
	return NULL;
}

static void answer(struct history *h, struct queue *q, bool restarted)
{
	struct wanted_predecessors asked;
	while (queue_take_wanted(q, &asked)) {
		struct predecessor found[HISTORY];
		size_t n = 0;
		for (size_t i = 0; i < h->njobs; i++) {
			const struct past_job *j = &h->job[i];
			if (j->forgotten || strcmp(j->p.name, asked.name) != 0)
				continue;
			found[n] = j->p;
			if (j->p.gone && restarted && h->forgets_creation)
				found[n].created_ms = 0;
			n++;
		}
		queue_answer_wanted(q, asked.id, found, n);
	}
}

static void create(struct history *h, struct queue *q, const char *name)
{
	if (h->njobs == HISTORY)
		return;
	struct past_job *j = &h->job[h->njobs++];
	*j = (struct past_job){.p = {.uid = fixture_uid(1000 + (uint32_t)h->njobs),
				       .ns = "team-a",
				       .name = name,
				       .created_ms = h->now_ms,
				       .failure = "",
				       .followed = true}};
	queue_see_predecessor(q, &j->p);
}

static void move(struct history *h, struct queue *q, struct past_job *j)
{
	if (j->p.state == PREDECESSOR_WAITS) {
		j->p.state = PREDECESSOR_STARTED;
	} else if (j->p.state == PREDECESSOR_STARTED) {
		j->p.state = draw(&h->seed, 2) ? PREDECESSOR_SUCCEEDED : PREDECESSOR_FAILED;
		j->p.ended_ms = h->now_ms;
	}
	queue_see_predecessor(q, &j->p);
}

static void lose(struct queue *q, struct past_job *j)
{
	j->p.gone = true;
	j->p.deleted = j->p.ended_ms == 0;
	j->forgotten = j->p.state == PREDECESSOR_WAITS;
	queue_lose_predecessor(q, &j->p.uid, j->p.ns, j->p.name);
}

static void follow(struct history *h, struct queue *q)
{
	if (h->nfollowers == FOLLOWERS)
		return;
	size_t n = h->nfollowers++;
	h->item[n] = after_name(
		(enum dependency_kind)draw(&h->seed, AFTER_SINGLETON), NAME[draw(&h->seed, NAMES)]);
	h->created_ms[n] = h->now_ms;
	set_follower(q, (uint32_t)n + 1, "follower", h->now_ms, &h->item[n], 1);
	answer(h, q, false);
}

static void step(struct history *h, struct queue *q, uint32_t most_s)
{
	const char *name = NAME[draw(&h->seed, NAMES)];
	struct past_job *j = alive(h, name);
	h->now_ms += 1000 * (most_s == 0 ? draw(&h->seed, 2) : 1 + draw(&h->seed, most_s));
	if (draw(&h->seed, 4) == 0)
		follow(h, q);
	else if (!j)
		create(h, q, name);
	else if (draw(&h->seed, 4) == 0)
		lose(q, j);
	else
		move(h, q, j);
}

/* The same followers, told in another order. */
static struct queue *restarted(struct history *h)
{
	struct queue *q = fixture_new(0, 0);
	size_t from = h->nfollowers ? draw(&h->seed, (uint32_t)h->nfollowers) : 0;
	for (size_t i = 0; i < h->nfollowers; i++) {
		size_t n = (i + from) % h->nfollowers;
		set_follower(q, (uint32_t)n + 1, "follower", h->created_ms[n], &h->item[n], 1);
	}
	answer(h, q, true);
	return q;
}

static enum dependency_verdict verdict(const struct queue *q, size_t n)
{
	const struct workload *w = workload(q, (uint32_t)n + 1);
	assert_int_equal(w->place == PLACE_READY, dependencies_hold(w));
	return w->after->item[0].verdict;
}

static void compare(struct history *h, const struct queue *q, bool exactly)
{
	struct queue *fresh = restarted(h);
	for (size_t n = 0; n < h->nfollowers; n++) {
		enum dependency_verdict lived = verdict(q, n), read = verdict(fresh, n);
		if (exactly ? lived != read : read == VERDICT_HOLDS && lived != VERDICT_HOLDS)
			fail_msg("follower %zu of %s (%s) at %lld s: %d seen, %d read", n,
				h->item[n].name, dependency_kind_name(h->item[n].kind),
				(long long)h->now_ms / 1000, lived, read);
	}
	queue_free(fresh);
}

static void live(uint64_t seed, uint32_t most_s, bool forgets_creation)
{
	struct history h = {.seed = seed, .now_ms = 1000, .forgets_creation = forgets_creation};
	struct queue *q = fixture_new(0, 0);
	for (int i = 0; i < STEPS; i++) {
		step(&h, q, most_s);
		compare(&h, q, most_s > 0 && !forgets_creation);
	}
	queue_free(q);
}

static void a_restart_comes_to_the_same_verdicts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++)
		live(seed, 3, false);
}

/* Events of one second, whose order is not known, and creations that are not: then less holds,
 * and never more. */
static void what_is_not_known_holds_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		live(seed, 0, false);
		live(seed, 3, true);
	}
}

/* ---- What is written outlives a queue --------------------------------------------------------- */

enum { SHARDS = 4, STAGES = 400 };

/* A stage of a pipeline: Jobs that are not queued, with labels, and one that waits for all of them and for
 * prep. A queue that is made anew reads what is there, and what is written on the Job that waits. So does
 * one of a standby, which has known that Job all the while, and has asked nothing. */
struct stage {
	uint64_t seed;
	struct queue *q;
	struct predecessor shard[SHARDS], prep;
	bool there[SHARDS], prep_is_there;
	uint32_t uids;
	char *record;
	int64_t now_ms;
};

static const struct label SHARD = {"stage", "shard"};
static const char *const SHARD_NAME[SHARDS] = {"shard-0", "shard-1", "shard-2", "shard-3"};

static void set_report(struct stage *s, struct queue *q)
{
	static const char *values[] = {"shard"};
	static const struct requirement r = {"stage", SELECTOR_IN, values, 1};
	const struct dependency items[] = {{AFTER_OK, NULL, {&r, 1}, "afterok:{stage=shard}"},
		{AFTER_OK, "prep", {0}, "prep"}};
	struct job j = fixture_job(1, &c);
	j.name = "report";
	j.created_ms = 500;
	j.after = (struct dependencies){.item = items, .count = 2, .record = s->record};
	queue_set_job(q, &j);
}

static void answer_stage(const struct stage *s, struct queue *q)
{
	struct wanted_predecessors asked;
	while (queue_take_wanted(q, &asked)) {
		struct predecessor found[SHARDS];
		size_t n = 0;
		for (size_t i = 0; !asked.name && i < SHARDS; i++)
			if (s->there[i])
				found[n++] = s->shard[i];
		if (asked.name && s->prep_is_there)
			found[n++] = s->prep;
		queue_answer_wanted(q, asked.id, found, n);
	}
}

/* Until the questions come again. */
static void look(struct stage *s)
{
	struct decision d[4];
	int64_t next_ms;
	for (int i = 0; i < 2; i++) {
		s->now_ms += PREDECESSOR_AGAIN_MS + 1000;
		queue_decide(s->q, s->now_ms, d, 0, &next_ms);
		answer_stage(s, s->q);
	}
}

/* As the gate does. */
static bool write_records(struct stage *s)
{
	struct uid uid;
	size_t cost = 0;
	bool any = false;
	for (int i = 0; queue_take_unrecorded(s->q, &uid); i++) {
		struct buf b;
		assert_true(i < 10);
		if (!queue_is_unrecorded(s->q, &uid, &cost))
			continue;
		buf_init(&b, OUTCOME_RECORD_MAX);
		queue_job_outcomes(s->q, &uid, &b);
		free(s->record);
		s->record = buf_take(&b);
		set_report(s, s->q);
		any = true;
	}
	return any;
}

static void shard_moves(struct stage *s, size_t i)
{
	struct predecessor *p = &s->shard[i];
	if (!s->there[i]) {
		*p = (struct predecessor){.uid = fixture_uid(1000 + ++s->uids),
			.ns = "team-a",
			.name = SHARD_NAME[i],
			.labels = &SHARD,
			.nlabels = 1,
			.created_ms = s->now_ms,
			.state = PREDECESSOR_STARTED,
			.failure = ""};
		s->there[i] = true;
	} else if (p->state == PREDECESSOR_STARTED) {
		p->state = draw(&s->seed, 3) ? PREDECESSOR_SUCCEEDED : PREDECESSOR_FAILED;
		p->ended_ms = s->now_ms;
	} else if (draw(&s->seed, 2) == 0) {
		s->there[i] = false; /* its TTL, or its owner */
	}
}

static void prep_moves(struct stage *s)
{
	if (s->prep.state == PREDECESSOR_SUCCEEDED)
		s->prep_is_there = false;
	s->prep.state = PREDECESSOR_SUCCEEDED;
	s->prep.ended_ms = s->now_ms;
}

static enum dependency_verdict item_verdict(const struct queue *q, size_t i)
{
	return workload(q, 1)->after->item[i].verdict;
}

static void live_stage(uint64_t seed, size_t *ret_held, size_t *ret_never)
{
	struct stage s = {
		.seed = seed, .q = fixture_new(0, 0), .now_ms = 1000, .prep_is_there = true};
	s.prep = (struct predecessor){.uid = fixture_uid(999),
		.ns = "team-a",
		.name = "prep",
		.created_ms = 600,
		.state = PREDECESSOR_STARTED,
		.failure = ""};
	for (size_t i = 0; i < SHARDS; i++)
		shard_moves(&s, i);
	struct queue *standby = fixture_new(0, 0);
	set_report(&s, standby);
	set_report(&s, s.q);
	answer_stage(&s, s.q);
	for (int step = 0; step < 12; step++) {
		if (draw(&s.seed, 4) == 0)
			prep_moves(&s);
		else
			shard_moves(&s, draw(&s.seed, SHARDS));
		look(&s);
		write_records(&s);
		assert_false(write_records(&s)); /* once for each change */
		set_report(&s, standby);
		struct queue *fresh = draw(&s.seed, 2) ? standby : fixture_new(0, 0);
		if (fresh == standby)
			standby = fixture_new(0, 0);
		set_report(&s, fresh);
		set_report(&s, standby);
		answer_stage(&s, fresh);
		for (size_t i = 0; i < 2; i++)
			if (item_verdict(fresh, i) != item_verdict(s.q, i))
				fail_msg(
					"seed %llu step %d item %zu: %d seen, %d read; written:\n%s",
					(unsigned long long)seed, step, i, item_verdict(s.q, i),
					item_verdict(fresh, i), s.record ? s.record : "nothing");
		*ret_held += !s.prep_is_there && item_verdict(fresh, 1) == VERDICT_HOLDS;
		*ret_never += item_verdict(fresh, 0) == VERDICT_NEVER;
		queue_free(s.q); /* the new one leads from here on */
		s.q = fresh;
	}
	queue_free(s.q);
	queue_free(standby);
	free(s.record);
}

static void what_is_written_outlives_a_queue(void **state)
{
	size_t held = 0, never = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= STAGES; seed++)
		live_stage(seed, &held, &never);
	assert_true(held > 100 && never > 100);
}

/* Nothing is written where the ledger knows the end. */
static void what_the_ledger_knows_is_not_written(void **state)
{
	const struct dependency item = after_name(AFTER_OK, "prep");
	struct queue *q = fixture_new(0, 0);
	struct predecessor p = {.uid = fixture_uid(9),
		.ns = "team-a",
		.name = "prep",
		.created_ms = 600,
		.state = PREDECESSOR_SUCCEEDED,
		.ended_ms = 700,
		.failure = "",
		.followed = true};
	struct wanted_predecessors asked;
	struct uid uid;
	size_t cost = 0;
	(void)state;
	set_follower(q, 1, "report", 500, &item, 1);
	assert_true(queue_take_wanted(q, &asked));
	p.state = PREDECESSOR_STARTED;
	p.ended_ms = 0;
	queue_answer_wanted(q, asked.id, &p, 1);
	p.state = PREDECESSOR_SUCCEEDED; /* as the gate tells it: from here on it is not followed */
	p.ended_ms = 700;
	p.followed = false;
	queue_see_predecessor(q, &p);
	assert_true(dependencies_hold(workload(q, 1)));
	while (queue_take_unrecorded(q, &uid))
		assert_false(queue_is_unrecorded(q, &uid, &cost));
	queue_free(q);
}

static bool holds_by(const char *record)
{
	const struct dependency item = after_name(AFTER_OK, "prep");
	struct queue *q = fixture_new(0, 0);
	struct job j = fixture_job(1, &c);
	j.after = (struct dependencies){.item = &item, .count = 1, .record = record};
	queue_set_job(q, &j);
	bool holds = dependencies_hold(workload(q, 1));
	queue_free(q);
	return holds;
}

/* A copied manifest, an item that is not listed any more, and what cannot be read. */
static void only_a_record_of_its_own_counts(void **state)
{
	struct uid own = fixture_uid(1), other = fixture_uid(2);
	char uid[2][UID_TEXT_SIZE], text[400];
	static const char *const wrong[] = {"holds perp\n", "holds prep", "holds \n", "hold prep\n",
		"holds prep\n\n", "holds prep\nmember failed x y 0 0 prep\n",
		"holds prep\nmember ran x 00000000-0000-0000-0000-000000000000 0 0 prep\n",
		"holds prep\nmember failed x 00000000-0000-0000-0000-000000000000 -1 0 prep\n",
		"holds prep\nmember failed x 00000000-0000-0000-0000-000000000000 "
		"9999999999999999999 0 prep\n"};
	(void)state;
	uid_format(&own, uid[0]);
	uid_format(&other, uid[1]);
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "for %s\nholds prep\n", uid[i]);
		assert_int_equal(holds_by(text), i == 0);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(text, sizeof(text), "for %s\n%s", uid[0], wrong[i]);
		assert_false(holds_by(text));
	}
	assert_false(holds_by(""));
	assert_false(holds_by("for me\nholds prep\n"));
}

/* One with 10,000 followers whose records are to be written, and another with one. */
static void namespaces_take_turns_with_records(void **state)
{
	const struct dependency item = after_name(AFTER_OK, "prep");
	struct queue *q = fixture_new(0, 0);
	struct wanted_predecessors asked;
	struct uid uid, late = fixture_uid(20000);
	(void)state;
	for (uint32_t n = 1; n <= 1000; n++)
		set_follower(q, n, "follower", 500, &item, 1);
	struct job j = fixture_job(20000, &c);
	j.ns = "team-b";
	j.created_ms = 500;
	j.after = (struct dependencies){.item = &item, .count = 1};
	queue_set_job(q, &j);
	while (queue_take_wanted(q, &asked)) {
		struct predecessor p = {
			.uid = fixture_uid(strcmp(asked.ns, "team-b") ? 30001 : 30002),
			.ns = asked.ns,
			.name = "prep",
			.created_ms = 600,
			.state = PREDECESSOR_SUCCEEDED,
			.ended_ms = 700,
			.failure = ""};
		queue_answer_wanted(q, asked.id, &p, 1);
	}
	bool found = false;
	for (int i = 0; i < 2 && queue_take_unrecorded(q, &uid); i++)
		found |= uid_cmp(&uid, &late) == 0;
	assert_true(found);
	queue_free(q);
}

/* ---- Costs ----------------------------------------------------------------------------------- */

enum { CHAIN = 20000, FAN = 1000 };

static struct predecessor seen(uint32_t n, const char *name, enum predecessor_state state)
{
	bool ended = state == PREDECESSOR_SUCCEEDED || state == PREDECESSOR_FAILED;
	return (struct predecessor){.uid = fixture_uid(n),
		.ns = "team-a",
		.name = name,
		.created_ms = 1000,
		.state = state,
		.ended_ms = ended ? 2000 : 0,
		.failure = "",
		.followed = true};
}

/* Every question is answered: there is one Job of that name, and it waits. */
static void answer_waits(struct queue *q)
{
	struct wanted_predecessors asked;
	while (queue_take_wanted(q, &asked)) {
		struct predecessor p =
			seen((uint32_t)atoi(asked.name + 4) + 1, asked.name, PREDECESSOR_WAITS);
		queue_answer_wanted(q, asked.id, &p, 1);
	}
}

/* job-0, job-1, ..., each after the one before. */
static char (*chain_made(struct queue *q))[32]
{
	char(*name)[32] = mem_array(CHAIN, sizeof(*name));
	for (uint32_t i = 0; i < CHAIN; i++) {
		snprintf(name[i], sizeof(name[i]), "job-%u", i);
		struct dependency before = after_name(AFTER_OK, i ? name[i - 1] : "");
		set_follower(q, i + 1, name[i], 1000, &before, i > 0);
	}
	answer_waits(q);
	return name;
}

static void a_chain_moves_link_by_link(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct decision d[4];
	struct explanation x;
	int64_t next_ms;
	struct uid last = fixture_uid(CHAIN);
	char(*name)[32] = chain_made(q);
	assert_true(queue_explain(q, &last, 5000, &x));
	assert_int_equal(x.reason, WAIT_DEPENDENCY);
	for (uint32_t i = 0; i < CHAIN; i++) {
		assert_int_equal(queue_decide(q, 5000 + i, d, 4, &next_ms), 1);
		struct uid uid = fixture_uid(i + 1);
		assert_int_equal(uid_cmp(&d[0].uid, &uid), 0);
		struct predecessor p = seen(i + 1, name[i], PREDECESSOR_SUCCEEDED);
		uint64_t placed = q->counters.placed;
		queue_end_job(q, &uid, 5000 + i);
		queue_see_predecessor(q, &p);
		assert_in_range(q->counters.placed - placed, 0, 2);
	}
	assert_int_equal(q->predecessors.namespaces.count, 0);
	queue_free(q);
	free(name);
}

static void a_thousand_followers_fail_at_once(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency prep = after_name(AFTER_OK, "job-0");
	struct decision d[64];
	int64_t next_ms, now_ms = 5000;
	size_t told = 0;
	for (uint32_t i = 1; i <= FAN; i++) {
		struct job j = fixture_job(i + 1, &c);
		j.created_ms = 1000;
		j.after = (struct dependencies){&prep, 1, DEPENDENCY_FAILURE_DELETE};
		queue_set_job(q, &j);
	}
	answer_waits(q);
	assert_int_equal(queue_decide(q, now_ms, d, 64, &next_ms), 0);
	struct predecessor p = seen(1, "job-0", PREDECESSOR_FAILED);
	uint64_t placed = q->counters.placed;
	queue_see_predecessor(q, &p);
	do {
		size_t n = queue_decide(q, now_ms, d, 64, &next_ms);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(d[i].kind, DECISION_DELETE);
			assert_non_null(strstr(d[i].why, "job-0 failed"));
		}
		told += n;
		now_ms = next_ms;
	} while (next_ms != INT64_MAX);
	assert_int_equal(told, FAN);
	assert_int_equal(q->counters.placed, placed);
	queue_free(q);
}

/* ---- Selectors ------------------------------------------------------------------------------- */

static struct dependency after_label(
	enum dependency_kind k, struct requirement *r, const char *const *value)
{
	*r = (struct requirement){"batch", SELECTOR_IN, value, 1};
	return (struct dependency){.kind = k, .selector = {r, 1}, .text = "afterok:{batch=..}"};
}

/* n Jobs with the label, as they are told. The caller frees the array and the names. */
static struct predecessor *labelled(
	size_t n, const struct label *label, char (*name)[32], enum predecessor_state state)
{
	struct predecessor *all = mem_array(n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		snprintf(name[i], sizeof(name[i]), "shard-%zu", i);
		all[i] = seen((uint32_t)i + 1000, name[i], state);
		all[i].labels = label;
		all[i].nlabels = 1;
	}
	return all;
}

static void a_selector_takes_ten_thousand_and_no_more(void **state)
{
	(void)state;
	static const char *const tuesday[] = {"tuesday"};
	static const struct label label = {"batch", "tuesday"};
	size_t n = PREDECESSOR_TAKEN_MAX + 1;
	char(*name)[32] = mem_array(n, sizeof(*name));
	struct predecessor *all = labelled(n, &label, name, PREDECESSOR_SUCCEEDED);
	struct requirement r;
	struct dependency d = after_label(AFTER_OK, &r, tuesday);
	struct wanted_predecessors asked;
	struct explanation x;
	struct uid uid = fixture_uid(1);
	struct queue *q = fixture_new(1000, 0);
	set_follower(q, 1, "report", 1000, &d, 1);
	assert_true(queue_take_wanted(q, &asked));
	assert_null(asked.name);
	assert_true(labels_match(&label, 1, asked.selector));
	queue_answer_wanted(q, asked.id, all, n);
	assert_false(dependencies_hold(workload(q, 1)));
	queue_explain(q, &uid, 5000, &x);
	assert_non_null(strstr(x.sentence, "which takes more than 10000 Jobs"));
	queue_free(q);

	q = fixture_new(1000, 0);
	set_follower(q, 1, "report", 1000, &d, 1);
	assert_true(queue_take_wanted(q, &asked));
	all[5].state = PREDECESSOR_STARTED;
	queue_answer_wanted(q, asked.id, all, n - 1);
	uint64_t placed = q->counters.placed;
	for (size_t i = 0; i + 1 < n; i++)
		queue_see_predecessor(q, &all[i]);
	assert_int_equal(q->counters.placed, placed);
	assert_false(dependencies_hold(workload(q, 1)));
	all[5].state = PREDECESSOR_SUCCEEDED;
	queue_see_predecessor(q, &all[5]);
	assert_false(
		dependencies_hold(workload(q, 1))); /* one that is not queued may have come since */
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, all, n - 1);
	assert_true(dependencies_hold(workload(q, 1)));
	queue_free(q);
	free(all);
	free(name);
}

/* Half of an answer is no answer: the first of two Jobs has ended well, the second runs. */
static void an_answer_is_judged_as_a_whole(void **state)
{
	(void)state;
	static const char *const tuesday[] = {"tuesday"};
	static const struct label label = {"batch", "tuesday"};
	char name[2][32];
	struct requirement r;
	struct dependency d[2] = {after_label(AFTER_OK, &r, tuesday), after_name(AFTER_OK, "prep")};
	struct predecessor *all = labelled(2, &label, name, PREDECESSOR_SUCCEEDED);
	struct wanted_predecessors asked;
	struct queue *q = fixture_new(1000, 0);
	all[1].state = PREDECESSOR_STARTED;
	set_follower(q, 1, "report", 5000, d, 2);
	while (queue_take_wanted(q, &asked)) {
		all[0].name = asked.name ? "prep" : name[0];
		all[1].name = asked.name ? "prep" : name[1];
		all[1].created_ms = asked.name ? 3000 : 1000;
		queue_answer_wanted(q, asked.id, all, 2);
	}
	assert_int_equal(workload(q, 1)->after->nheld, 0);
	queue_free(q);
	free(all);
}

/* The 65th selector of a namespace waits for a place. */
static void selectors_of_a_namespace_take_turns(void **state)
{
	(void)state;
	enum { N = PREDECESSOR_SELECTORS_MAX + 1 };
	char value[N][32];
	const char *values[N];
	struct requirement r[N];
	struct explanation x;
	struct uid last = fixture_uid(N), first = fixture_uid(1);
	struct wanted_predecessors asked;
	struct queue *q = fixture_new(1000, 0);
	size_t n = 0;
	for (uint32_t i = 0; i < N; i++) {
		snprintf(value[i], sizeof(value[i]), "v%u", i);
		values[i] = value[i];
		struct dependency d = after_label(AFTER_OK, &r[i], &values[i]);
		set_follower(q, i + 1, "follower", 1000, &d, 1);
	}
	while (queue_take_wanted(q, &asked)) {
		queue_answer_wanted(q, asked.id, NULL, 0);
		n++;
	}
	assert_int_equal(n, N - 1);
	queue_explain(q, &last, 5000, &x);
	assert_non_null(strstr(x.sentence, "fewer than 64 other selectors"));
	queue_drop_job(q, &first);
	assert_true(queue_take_wanted(q, &asked));
	assert_string_equal(asked.selector->requirements[0].values[0], value[N - 1]);
	queue_free(q);
}

/* A place is free: all that say the same take it, also those that stand behind others that wait. */
static void those_that_waited_for_one_place_take_it_together(void **state)
{
	(void)state;
	enum { N = PREDECESSOR_SELECTORS_MAX + 2 };
	char value[N][32];
	const char *values[N];
	struct requirement r[N], again;
	struct wanted_predecessors asked;
	struct queue *q = fixture_new(1000, 0);
	for (uint32_t i = 0; i < N; i++) {
		snprintf(value[i], sizeof(value[i]), "v%u", i);
		values[i] = value[i];
		struct dependency d = after_label(AFTER_NOT_OK, &r[i], &values[i]);
		set_follower(q, i + 1, "follower", 1000, &d, 1);
	}
	struct dependency late = after_label(AFTER_OK, &again, &values[N - 2]);
	set_follower(q, N + 1, "late", 1000, &late, 1);
	while (queue_take_wanted(q, &asked))
		queue_answer_wanted(q, asked.id, NULL, 0);
	assert_false(dependencies_hold(workload(q, N + 1)));
	struct uid uid = fixture_uid(1);
	queue_drop_job(q, &uid);
	assert_true(queue_take_wanted(q, &asked));
	struct label label = {"batch", values[N - 2]};
	struct predecessor p = seen(1000, "shard", PREDECESSOR_SUCCEEDED);
	p.labels = &label;
	p.nlabels = 1;
	queue_answer_wanted(q, asked.id, &p, 1);
	assert_true(dependencies_hold(workload(q, N + 1)));
	queue_free(q);
}

/* Each question is answered with those of the Jobs that it asks for. Returns how many names were asked. */
static size_t answer_with(struct queue *q, const struct predecessor *all, size_t n)
{
	struct wanted_predecessors asked;
	size_t names = 0;
	while (queue_take_wanted(q, &asked)) {
		struct predecessor found[64];
		size_t nfound = 0;
		for (size_t i = 0; i < n; i++)
			if (asked.name ? strcmp(asked.name, all[i].name) == 0
				       : labels_match(
						 all[i].labels, all[i].nlabels, asked.selector))
				found[nfound++] = all[i];
		queue_answer_wanted(q, asked.id, found, nfound);
		names += asked.name != NULL;
	}
	return names;
}

/* Until the questions come again. */
static void rest(struct queue *q, int64_t *now_ms)
{
	struct decision d[4];
	int64_t next_ms;
	queue_decide(q, *now_ms, d, 4, &next_ms);
	*now_ms += PREDECESSOR_AGAIN_MS;
	queue_decide(q, *now_ms, d, 4, &next_ms);
}

/* Its labels are taken off while it runs, that of its queue and that of the selector: the watch says that
 * it is deleted, the selector does not find it, and its name does. */
static void one_that_lost_its_labels_runs_on(void **state)
{
	(void)state;
	static const char *const tuesday[] = {"tuesday"};
	static const struct label label = {"batch", "tuesday"};
	struct requirement r;
	struct dependency selected = after_label(AFTER_OK, &r, tuesday);
	struct dependency failed = after_name(AFTER_NOT_OK, "shard"),
			  ended = after_name(AFTER_ANY, "shard");
	struct wanted_predecessors asked;
	int64_t now_ms = 5000;
	struct queue *q = fixture_new(1000, 0);
	struct predecessor p = seen(9, "shard", PREDECESSOR_STARTED);
	p.labels = &label;
	p.nlabels = 1;
	set_follower(q, 1, "report", 1000, &selected, 1);
	set_follower(q, 2, "mend", 1000, &failed, 1);
	set_follower(q, 3, "clean", 1000, &ended, 1);
	answer_with(q, &p, 1);
	p.followed = false;
	queue_unfollow_predecessor(q, &p.uid, "team-a", "shard", true);
	p.labels = NULL;
	p.nlabels = 0;
	assert_true(queue_take_wanted(q, &asked)); /* at once */
	assert_string_equal(asked.name, "shard");
	queue_return_wanted(q, asked.id);
	rest(q, &now_ms);
	struct wanted_predecessors of_name = {0}, of_selector = {0};
	while (queue_take_wanted(q, &asked))
		*(asked.name ? &of_name : &of_selector) = asked;
	queue_answer_wanted(q, of_selector.id, NULL, 0);
	assert_int_equal(workload(q, 1)->after->item[0].verdict, VERDICT_WAITS);
	assert_false(dependencies_hold(workload(q, 2)));
	assert_false(dependencies_hold(workload(q, 3)));
	queue_answer_wanted(q, of_name.id, &p, 1);
	assert_int_equal(workload(q, 1)->after->item[0].verdict, VERDICT_WAITS);
	assert_int_equal(workload(q, 1)->after->item[0].awaited->ns->by_name.count, 1);
	assert_false(dependencies_hold(workload(q, 2)));
	assert_false(dependencies_hold(workload(q, 3)));
	p.state = PREDECESSOR_SUCCEEDED;
	p.ended_ms = 7000;
	rest(q, &now_ms);
	answer_with(q, &p, 1);
	assert_int_equal(workload(q, 2)->after->item[0].verdict, VERDICT_NEVER);
	assert_true(dependencies_hold(workload(q, 3)));
	assert_true(workload(q, 3)->after->item[0].is_lost); /* the ledger knows no end of it */
	queue_free(q);
}

/* No Job waits for its name: it is asked for all the same. What the ledger says of it has no labels, and
 * takes none. */
static void one_that_a_selector_misses_is_asked_for_by_its_name(void **state)
{
	(void)state;
	static const char *const tuesday[] = {"tuesday"};
	static const struct label label = {"batch", "tuesday"};
	struct requirement r;
	struct dependency d = after_label(AFTER_OK, &r, tuesday);
	struct wanted_predecessors asked;
	char name[2][32];
	int64_t now_ms = 5000;
	struct queue *q = fixture_new(1000, 0);
	struct predecessor *p = labelled(2, &label, name, PREDECESSOR_STARTED);
	set_follower(q, 1, "report", 1000, &d, 1);
	answer_with(q, p, 2);
	queue_unfollow_predecessor(q, &p[1].uid, "team-a", name[1], true);
	p[0].state = PREDECESSOR_SUCCEEDED;
	p[0].ended_ms = 2000;
	queue_see_predecessor(q, &p[0]);
	rest(q, &now_ms);
	assert_true(queue_take_wanted(q, &asked) && !asked.name);
	queue_answer_wanted(q, asked.id, p, 1);
	assert_int_equal(workload(q, 1)->after->item[0].verdict, VERDICT_WAITS);
	assert_true(queue_take_wanted(q, &asked));
	assert_string_equal(asked.name, name[1]);
	struct predecessor held = seen(1001, name[1], PREDECESSOR_STARTED); /* its pods are going */
	held.followed = false;
	held.by_ledger = true;
	queue_answer_wanted(q, asked.id, &held, 1);
	assert_int_equal(workload(q, 1)->after->item[0].verdict, VERDICT_WAITS);
	rest(q, &now_ms);
	assert_int_equal(answer_with(q, p, 1), 1); /* it is deleted */
	assert_int_equal(workload(q, 1)->after->item[0].verdict, VERDICT_NEVER);
	rest(q, &now_ms);
	assert_int_equal(answer_with(q, p, 1), 0); /* and asked for no more */
	queue_free(q);
	free(p);
}

/* What selectors count and list is what the names say. */
static void check_taken(const struct predecessor_namespace *ns)
{
	size_t listed = 0, taken = 0;
	for (size_t i = 0; i < PREDECESSOR_SELECTORS_MAX; i++) {
		const struct predecessor_selector *s = ns->selector[i];
		size_t with = 0;
		for (enum outcome o = 0; s && o < OUTCOMES; o++)
			with += s->with[o];
		for (size_t k = 0; s && k < s->ntaken; k++) {
			const struct predecessor_name *n = s->taken[k];
			assert_true(n->taken_by & s->bit);
			assert_int_equal(
				n->place[__builtin_popcountll(n->taken_by & (s->bit - 1))], k);
		}
		assert_int_equal(with, s ? s->ntaken : 0);
		listed += s ? s->ntaken : 0;
	}
	list_each(&ns->names, l) {
		const struct predecessor_name *n =
			container_of_const(l, struct predecessor_name, of_namespace);
		taken += (size_t)__builtin_popcountll(n->taken_by);
	}
	assert_int_equal(listed, taken);
}

/* Names come to selectors and leave them, and so do selectors; the last of a list takes the place of one
 * that leaves. */
static void selectors_list_what_they_take(void **state)
{
	(void)state;
	enum { VALUES = 6, MEMBERS = 40 };
	static const char *const value[VALUES] = {"a", "b", "c", "d", "e", "f"};
	static const char *const key[2] = {"batch", "stage"};
	struct label label[MEMBERS][2];
	char name[MEMBERS][32];
	struct queue *q = fixture_new(1000, 0);
	struct dependency prep = after_name(AFTER_OK, "prep");
	struct predecessor *p = labelled(MEMBERS, label[0], name, PREDECESSOR_STARTED);
	uint64_t seed = 7;
	set_follower(q, 100, "keeps the namespace", 1000, &prep, 1);
	for (int step = 0; step < 20000; step++) {
		uint32_t i = draw(&seed, MEMBERS), n = 1 + draw(&seed, 2 * VALUES);
		struct requirement r = {key[n % 2], SELECTOR_IN, &value[n / 2 % VALUES], 1};
		struct dependency d = {
			.kind = AFTER_OK, .selector = {&r, 1}, .text = value[n / 2 % VALUES]};
		struct uid uid = fixture_uid(n);
		if (draw(&seed, 20) == 0)
			set_follower(q, n, "follower", 1000, &d, 1);
		else if (draw(&seed, 40) == 0)
			queue_drop_job(q, &uid);
		else if (draw(&seed, 6) == 0)
			queue_lose_predecessor(q, &p[i].uid, "team-a", name[i]);
		for (int k = 0; k < 2; k++)
			label[i][k] = (struct label){key[k], value[draw(&seed, VALUES)]};
		p[i].uid = fixture_uid(1000 + (uint32_t)step / 500 * MEMBERS + i);
		p[i].created_ms = 1000 + step / 500 * 1000;
		p[i].state = draw(&seed, 2) ? PREDECESSOR_STARTED : PREDECESSOR_FAILED;
		p[i].ended_ms = p[i].state == PREDECESSOR_FAILED ? p[i].created_ms + 1 : 0;
		p[i].labels = label[i];
		p[i].nlabels = 2;
		queue_see_predecessor(q, &p[i]);
		check_taken(workload(q, 100)->after->item[0].awaited->ns);
	}
	queue_free(q); /* and all that was counted as kept is gone */
	free(p);
}

/* A namespace that waits for very many names: a selector looks at the one that it takes. */
static void a_selector_looks_at_what_it_takes(void **state)
{
	(void)state;
	enum { WAITED_FOR = 20000 };
	static const char *const tuesday[] = {"tuesday"};
	static const struct label label = {"batch", "tuesday"};
	static char name[WAITED_FOR][32];
	struct dependency item[DEPENDENCIES_MAX];
	struct requirement r;
	struct dependency d = after_label(AFTER_OK, &r, tuesday);
	struct queue *q = fixture_new(1000, 0);
	struct predecessor p = seen(9, "shard", PREDECESSOR_FAILED);
	struct uid uid = fixture_uid(1);
	size_t cost = 0;
	for (size_t i = 0; i < WAITED_FOR; i++) {
		size_t at = i % DEPENDENCIES_MAX;
		snprintf(name[i], sizeof(name[i]), "job-%zu", i);
		item[at] = after_name(AFTER_OK, name[i]);
		if (at + 1 == DEPENDENCIES_MAX || i + 1 == WAITED_FOR)
			set_follower(q, (uint32_t)i + 2, "follower", 1000, item, at + 1);
	}
	set_follower(q, 1, "report", 1000, &d, 1);
	p.labels = &label;
	p.nlabels = 1;
	answer_with(q, &p, 1);
	const struct awaited *a = workload(q, 1)->after->item[0].awaited;
	assert_int_equal(a->ns->by_name.count, WAITED_FOR + 1);
	assert_int_equal(awaited_selector(a)->ntaken, 1);
	assert_true(queue_is_unrecorded(q, &uid, &cost));
	assert_int_equal(cost, 1);
	queue_free(q);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static void namespaces_take_turns_with_questions(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency item[DEPENDENCIES_MAX];
	char name[DEPENDENCIES_MAX][32];
	struct wanted_predecessors asked;
	for (size_t i = 0; i < DEPENDENCIES_MAX; i++) {
		snprintf(name[i], sizeof(name[i]), "job-%zu", i);
		item[i] = after_name(AFTER_OK, name[i]);
	}
	set_follower(q, 1, "greedy", 1000, item, DEPENDENCIES_MAX);
	struct job j = fixture_job(2, &c);
	j.ns = "team-b";
	j.after = (struct dependencies){item, 1, DEPENDENCY_FAILURE_WAIT};
	queue_set_job(q, &j);
	assert_true(queue_take_wanted(q, &asked));
	assert_string_equal(asked.ns, "team-a");
	assert_true(queue_take_wanted(q, &asked));
	assert_string_equal(asked.ns, "team-b");
	queue_free(q); /* with two questions that nobody answered */
}

/* So many questions of one namespace are asked at a time; the next when one was answered. */
static void a_namespace_has_a_share_of_open_questions(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct wanted_predecessors asked, first = {0};
	uint64_t n = 0;
	for (uint32_t i = 0; i <= WANTED_ASKED_MAX; i++) {
		char name[32];
		snprintf(name, sizeof(name), "job-%u", i);
		struct dependency item = after_name(AFTER_OK, name);
		set_follower(q, i + 1, "follower", 1000, &item, 1);
	}
	for (; queue_take_wanted(q, &asked); n++)
		if (n == 0)
			first = asked;
	assert_int_equal(n, WANTED_ASKED_MAX);
	struct dependency prep = after_name(AFTER_OK, "prep");
	struct job j = fixture_job(50000, &c);
	j.ns = "team-b";
	j.after = (struct dependencies){&prep, 1, DEPENDENCY_FAILURE_WAIT};
	queue_set_job(q, &j);
	assert_true(queue_take_wanted(q, &asked));
	assert_string_equal(asked.ns, "team-b");
	assert_false(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, first.id, NULL, 0);
	assert_true(queue_take_wanted(q, &asked));
	assert_string_equal(asked.ns, "team-a");
	queue_free(q);
}

/* Whoever took a question reads its names, whatever becomes of the Job that asked. */
static void a_question_outlives_its_follower(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency prep = after_name(AFTER_OK, "prep");
	struct wanted_predecessors asked, other;
	struct predecessor p = seen(9, "prep", PREDECESSOR_SUCCEEDED);
	struct uid uid = fixture_uid(1);
	set_follower(q, 1, "train", 1000, &prep, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_drop_job(q, &uid);
	assert_string_equal(asked.name, "prep");
	set_follower(q, 2, "train", 1000, &prep, 1);
	assert_false(queue_take_wanted(q, &other)); /* it is asked already */
	queue_answer_wanted(q, asked.id, &p, 1);
	assert_false(dependencies_hold(workload(q, 2))); /* asked before it waited */
	queue_answer_wanted(q, asked.id, &p, 1);	 /* twice: nothing happens */
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &p, 1);
	assert_true(dependencies_hold(workload(q, 2)));
	queue_return_wanted(q, 12345);
	queue_free(q);
}

static void one_that_could_not_be_answered_comes_again(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency prep = after_name(AFTER_OK, "prep");
	struct wanted_predecessors asked;
	struct decision d[4];
	int64_t next_ms;
	set_follower(q, 1, "train", 1000, &prep, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_return_wanted(q, asked.id);
	assert_false(queue_take_wanted(q, &asked));
	queue_decide(q, 5000, d, 4, &next_ms);
	assert_int_equal(next_ms, 5000 + PREDECESSOR_AGAIN_MS);
	struct predecessor p = seen(9, "prep", PREDECESSOR_STARTED);
	queue_see_predecessor(q, &p); /* that is no answer: who had the name before? */
	queue_decide(q, next_ms, d, 4, &next_ms);
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &p, 1);
	queue_decide(q, 50000, d, 4, &next_ms);
	assert_int_equal(next_ms, INT64_MAX); /* events tell of the rest */
	queue_free(q);
}

/* The first follower has its answer, the second one's could not be given. That events tell of the Job from
 * now on is no answer either. */
static void one_that_was_answered_for_another_comes_again(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency prep = after_name(AFTER_OK, "prep");
	struct wanted_predecessors asked;
	struct decision d[4];
	int64_t next_ms;
	struct predecessor p = seen(9, "prep", PREDECESSOR_WAITS);
	p.followed = false;
	set_follower(q, 1, "train", 1000, &prep, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &p, 1);
	set_follower(q, 2, "late", 1000, &prep, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_return_wanted(q, asked.id);
	p.followed = true;
	queue_see_predecessor(q, &p);
	queue_decide(q, 5000, d, 4, &next_ms);
	queue_decide(q, next_ms, d, 4, &next_ms);
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &p, 1);
	p = seen(9, "prep", PREDECESSOR_SUCCEEDED);
	queue_see_predecessor(q, &p);
	assert_true(dependencies_hold(workload(q, 2)));
	queue_free(q);
}

/* A list goes by name, not by age: the Job that is known may be gone by now. */
static void while_jobs_are_listed_anew_an_answer_is_needed(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency ended = after_name(AFTER_OK, "prep"),
			  begun = after_name(AFTER_START, "prep");
	struct wanted_predecessors asked;
	struct predecessor old = seen(9, "prep", PREDECESSOR_STARTED);
	struct predecessor new = seen(10, "prep", PREDECESSOR_WAITS);
	set_follower(q, 1, "train", 1000, &ended, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &old, 1);
	queue_begin_job_list(q);
	set_follower(q, 2, "late", 5000, &begun, 1);
	assert_false(dependencies_hold(workload(q, 2)));
	queue_lose_predecessor(q, &old.uid, "team-a", "prep");
	queue_end_job_list(q);
	new.created_ms = 3000;
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &new, 1);
	assert_false(dependencies_hold(workload(q, 2)));
	queue_free(q);
}

/* The ledger knows of a run that was stopped; events tell that the Job is there and waits again. */
static void a_stopped_run_in_the_ledger_does_not_say_that_its_job_is_gone(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency any = after_name(AFTER_ANY, "prep");
	struct wanted_predecessors asked;
	struct predecessor p = seen(9, "prep", PREDECESSOR_STARTED);
	set_follower(q, 1, "clean", 1000, &any, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_see_predecessor(q, &p);
	p.gone = true;
	queue_answer_wanted(q, asked.id, &p, 1);
	assert_false(dependencies_hold(workload(q, 1)));
	queue_free(q);
}

/* Its start was called off and fenced. What its owner has added since has to hold first. */
static void a_start_that_was_called_off_is_none(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct dependency two[] = {after_name(AFTER_OK, "prep"), after_name(AFTER_OK, "clean")};
	struct predecessor p = seen(9, "prep", PREDECESSOR_SUCCEEDED);
	struct wanted_predecessors asked;
	set_follower(q, 1, "train", 1000, two, 1);
	assert_true(queue_take_wanted(q, &asked));
	queue_answer_wanted(q, asked.id, &p, 1);
	assert_true(dependencies_hold(workload(q, 1)));
	struct job j = fixture_job(1, &c);
	j.name = "train";
	j.created_ms = 1000;
	j.after = (struct dependencies){.item = two, .count = 2};
	j.admission = (struct job_admission){.state = STORY_FENCED, .attempt = 1, .told_ms = 2000};
	queue_set_job(q, &j);
	assert_false(dependencies_hold(workload(q, 1)));
	queue_free(q);
}

/* ---- Sentences ------------------------------------------------------------------------------- */

/* Names as long as they can be, and each of 64 items another one. */
static void sentences_fit(void **state)
{
	(void)state;
	static char name[DEPENDENCIES_MAX][254], why[2000];
	struct dependency item[DEPENDENCIES_MAX];
	struct explanation x;
	struct uid uid = fixture_uid(1);
	struct queue *q = fixture_new(1000, 0);
	for (size_t i = 0; i < DEPENDENCIES_MAX; i++) {
		memset(name[i], 'a' + (int)(i % 26), 253);
		name[i][0] = (char)('a' + i / 26);
		item[i] = after_name(AFTER_OK, name[i]);
	}
	memset(why, 0xC3, sizeof(why) - 1); /* halves of characters */
	set_follower(q, 1, name[0], 1000, item + 1, DEPENDENCIES_MAX - 1);
	for (uint32_t i = 1; i < DEPENDENCIES_MAX; i++)
		set_follower(q, i + 1, name[i], 1000, &item[(i + 1) % DEPENDENCIES_MAX], 1);
	for (struct wanted_predecessors asked; queue_take_wanted(q, &asked);) {
		struct predecessor p = seen(1, asked.name, PREDECESSOR_WAITS);
		for (uint32_t i = 0; i < DEPENDENCIES_MAX; i++)
			if (strcmp(name[i], asked.name) == 0)
				p.uid = fixture_uid(i + 1);
		queue_answer_wanted(q, asked.id, &p, 1);
	}
	assert_true(queue_explain(q, &uid, 5000, &x));
	assert_int_equal(x.reason, WAIT_DEPENDENCY_NEVER);
	assert_true(strlen(x.sentence) < sizeof(x.sentence));
	for (uint32_t i = 1; i < DEPENDENCIES_MAX; i++) {
		struct predecessor p = seen(i + 1, name[i], PREDECESSOR_FAILED);
		p.failure = why;
		queue_see_predecessor(q, &p);
	}
	assert_true(queue_explain(q, &uid, 5000, &x));
	assert_non_null(strstr(x.sentence, "and for 62 other items"));
	queue_free(q);
}

/* ---- Singletons ------------------------------------------------------------------------------ */

enum { FAMILIES = 3, SINGLETONS = 60 };

struct sibling {
	int family; /* -1: of none */
	bool singleton, there, holds, stopping;
};

struct siblings {
	struct queue *q;
	uint64_t seed;
	int64_t now_ms;
	struct sibling job[SINGLETONS + 1];
	size_t ended;
};

static void set_sibling(struct siblings *s, uint32_t n)
{
	static const char *const family[] = {"", "CronJob/a", "b-", "c-"};
	static const char *const class[] = {"low", "mid", "high"};
	static const struct dependency singleton = {.kind = AFTER_SINGLETON, .text = "singleton"};
	struct sibling *x = &s->job[n];
	struct job j = fixture_job(n, &c);
	*x = (struct sibling){.family = (int)draw(&s->seed, FAMILIES + 1) - 1, .there = true};
	x->singleton = x->family >= 0 && draw(&s->seed, 3) > 0;
	j.created_ms = s->now_ms;
	j.family = family[x->family + 1];
	j.priority_class = class[draw(&s->seed, 3)];
	j.queue = draw(&s->seed, 3) ? "main" : "more";
	j.parallelism = j.completions = 1 + (int32_t)draw(&s->seed, 3);
	j.after = (struct dependencies){&singleton, x->singleton, DEPENDENCY_FAILURE_WAIT};
	queue_set_job(s->q, &j);
}

static uint32_t number_of(const struct uid *uid)
{
	return (uint32_t)uid->byte[15] | (uint32_t)uid->byte[14] << 8;
}

static void start_sibling(struct siblings *s, uint32_t n)
{
	struct sibling *x = &s->job[n];
	for (uint32_t i = 1; i <= SINGLETONS && x->singleton; i++)
		if (s->job[i].holds && s->job[i].family == x->family)
			fail_msg("singleton %u starts while %u of its family runs", n, i);
	assert_false(x->holds);
	x->holds = true;
	struct uid uid = fixture_uid(n);
	queue_confirm_job(s->q, &uid, s->now_ms);
}

static void settle(struct siblings *s)
{
	struct decision d[8];
	int64_t next_ms = s->now_ms;
	for (int passes = 0; next_ms <= s->now_ms; passes++) {
		size_t n = queue_decide(s->q, s->now_ms, d, 8, &next_ms);
		assert_true(passes < 50);
		for (size_t i = 0; i < n; i++) {
			if (d[i].kind == DECISION_START)
				start_sibling(s, number_of(&d[i].uid));
			else if (d[i].kind == DECISION_STOP)
				s->job[number_of(&d[i].uid)].stopping = true;
		}
	}
}

/* Ends a run, or one that was told to stop: that waits again. */
static void end_some(struct siblings *s)
{
	uint32_t from = draw(&s->seed, SINGLETONS);
	for (uint32_t i = 0; i < SINGLETONS; i++) {
		uint32_t n = (from + i) % SINGLETONS + 1;
		struct sibling *x = &s->job[n];
		struct uid uid = fixture_uid(n);
		if (!x->holds)
			continue;
		x->holds = false;
		if (x->stopping)
			queue_release_job(s->q, &uid, s->now_ms, 0);
		else
			queue_end_job(s->q, &uid, s->now_ms);
		x->there = x->stopping;
		s->ended += !x->stopping;
		x->stopping = false;
		return;
	}
}

static void live_with_siblings(uint64_t seed)
{
	struct siblings s = {.q = fixture_new(0, 0), .seed = seed, .now_ms = 1000};
	static const char *const resource[] = {"cpu"};
	static const struct quota_spec quota = {"cpu", 4000, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	static const struct flavor_quota_spec flavor = {"spot", &quota, 1};
	static const struct resource_group_spec group = {resource, 1, &flavor, 1};
	static const char *const class[] = {"low", "mid", "high"};
	struct localqueue_spec more = {.ns = "team-a", .name = "more", .clusterqueue = "other"};
	struct clusterqueue_spec cq = {.name = "batch",
		.cohort = "all",
		.groups = &group,
		.ngroups = 1,
		.has_namespace_selector = true,
		.preemption.reclaim_within_cohort = PREEMPT_ANY,
		.preemption.within_clusterqueue = PREEMPT_LOWER_PRIORITY};
	for (int i = 0; i < 3; i++) {
		struct priority_spec p = {.kind = PRIORITY_WORKLOAD, .name = class[i], .value = i};
		queue_set_priority(s.q, &p);
	}
	queue_set_clusterqueue(s.q, &cq, NULL);
	cq.name = "other";
	queue_set_clusterqueue(s.q, &cq, NULL);
	queue_set_localqueue(s.q, &more, NULL);
	for (uint32_t n = 1; n <= SINGLETONS;) {
		s.now_ms += 1000;
		if (draw(&s.seed, 2))
			set_sibling(&s, n++);
		else
			end_some(&s);
		settle(&s);
	}
	for (int i = 0; s.ended < SINGLETONS; i++) {
		assert_true(i < 1000);
		s.now_ms += 1000;
		end_some(&s);
		settle(&s);
	}
	queue_free(s.q);
}

static void singletons_run_alone_and_all_get_their_turn(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++)
		live_with_siblings(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_restart_comes_to_the_same_verdicts),
		cmocka_unit_test(what_is_not_known_holds_nothing),
		cmocka_unit_test(what_is_written_outlives_a_queue),
		cmocka_unit_test(what_the_ledger_knows_is_not_written),
		cmocka_unit_test(only_a_record_of_its_own_counts),
		cmocka_unit_test(namespaces_take_turns_with_records),
		cmocka_unit_test(a_chain_moves_link_by_link),
		cmocka_unit_test(a_thousand_followers_fail_at_once),
		cmocka_unit_test(a_selector_takes_ten_thousand_and_no_more),
		cmocka_unit_test(an_answer_is_judged_as_a_whole),
		cmocka_unit_test(selectors_of_a_namespace_take_turns),
		cmocka_unit_test(those_that_waited_for_one_place_take_it_together),
		cmocka_unit_test(one_that_lost_its_labels_runs_on),
		cmocka_unit_test(one_that_a_selector_misses_is_asked_for_by_its_name),
		cmocka_unit_test(selectors_list_what_they_take),
		cmocka_unit_test(a_selector_looks_at_what_it_takes),
		cmocka_unit_test(namespaces_take_turns_with_questions),
		cmocka_unit_test(a_namespace_has_a_share_of_open_questions),
		cmocka_unit_test(a_question_outlives_its_follower),
		cmocka_unit_test(one_that_could_not_be_answered_comes_again),
		cmocka_unit_test(one_that_was_answered_for_another_comes_again),
		cmocka_unit_test(while_jobs_are_listed_anew_an_answer_is_needed),
		cmocka_unit_test(a_stopped_run_in_the_ledger_does_not_say_that_its_job_is_gone),
		cmocka_unit_test(a_start_that_was_called_off_is_none),
		cmocka_unit_test(sentences_fit),
		cmocka_unit_test(singletons_run_alone_and_all_get_their_turn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
