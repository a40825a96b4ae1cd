/*
 * The keeper on a tree of plain files: what is written when, and that nothing else is. Time is the
 * test's, notices are the kernel's own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/keeper.h"
#include "agent/lift.h"
#include "base/json.h"
#include "base/monotonic.h"
#include "fake_tree.h"
#include "node/wire.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define A "aaaaaaaa-93ab-4f1e-8a55-0123456789ab"
#define B "bbbbbbbb-93ab-4f1e-8a55-0123456789ab"
#define C "cccccccc-93ab-4f1e-8a55-0123456789ab"
#define ID_1 "97bd0f1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778899aabbccdde"
#define ID_2 "22bd0f1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778899aabbccdde"
#define MIB (INT64_C(1) << 20)

static int64_t clock_us;

int64_t __wrap_monotonic_us(void);
int64_t __wrap_monotonic_us(void)
{
	return clock_us;
}

/* ---- a node ---------------------------------------------------------------------------------- */

struct world {
	struct fake_tree t;
	char proc[64];
	struct ev_loop *loop;
	struct keeper *k;
	struct json *json;
	int64_t node_us, pods_us, a_us; /* cpu used so far: by the node, by all pods, by A */
	int reports, at_once;
};

static void on_report(bool at_once, void *ctx)
{
	struct world *w = ctx;
	w->reports++;
	w->at_once += at_once;
}

static void put_proc(const struct world *w, const char *file, const char *text)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", w->proc, file);
	fake_file(path, text);
}

/* Sets what /proc/meminfo says, of 10,000 MiB. */
static void available(const struct world *w, int64_t mib)
{
	char text[256];
	snprintf(text, sizeof(text),
		"MemTotal: %lld kB\nMemFree: %lld kB\nMemAvailable: %lld kB\nInactive(file): 0 kB\n",
		10000LL * 1024, (long long)mib * 1024, (long long)mib * 1024);
	put_proc(w, "meminfo", text);
}

static struct keeper *start_keeper(struct world *w)
{
	struct keeper_options o = {.loop = w->loop,
		.cgroups = w->t.root,
		.proc = w->proc,
		.report = on_report,
		.ctx = w};
	struct keeper *k;
	struct err e = {""};
	if (keeper_new(&o, &k, &e) != 0)
		fail_msg("%s", e.text);
	return k;
}

static void begin(struct world *w, enum cgroup_version version, bool systemd)
{
	*w = (struct world){.t = {.version = version, .systemd = systemd}};
	clock_us = 1000000000;
	fake_tree_make(&w->t);
	strcpy(w->proc, "/tmp/sluice-agent-XXXXXX");
	assert_non_null(mkdtemp(w->proc));
	put_proc(w, "stat", "cpu  0 0 0 0 0 0 0 0 0 0\n");
	available(w, 5000);
	w->loop = ev_loop_new(EVFLAG_AUTO);
	w->json = json_new(1 << 20);
	w->k = start_keeper(w);
}

static void end(struct world *w)
{
	char command[128];
	keeper_free(w->k);
	json_free(w->json);
	ev_loop_destroy(w->loop);
	snprintf(command, sizeof(command), "rm -r '%s'", w->proc);
	assert_int_equal(system(command), 0);
	fake_tree_remove(&w->t);
}

/* Has the kernel's notices come. */
static void turn(struct world *w)
{
	for (int i = 0; i < 5; i++)
		ev_run(w->loop, EVRUN_NOWAIT);
}

/* Lets time pass, in steps in which a timer comes as it would. */
static void pass(struct world *w, int64_t ms)
{
	for (int64_t step = 10; ms > 0; ms -= step) {
		clock_us += step * 1000;
		keeper_tick(w->k);
	}
	turn(w);
}

/* Gives orders: what a node has, and pods as JSON. */
static void order_with(struct world *w, int generation, const char *more, const char *pods)
{
	struct buf text;
	struct orders *o;
	struct err e = {""};
	buf_init(&text, 65536);
	buf_printf(&text,
		"{\"generation\":%d,\"lends\":true,\"limits\":true,\"cpu\":4000,\"memory\":10485760000%s,\"pods\":[%s]}",
		generation, more, pods);
	if (wire_read_orders(w->json, buf_slice(&text), &o, &e) != 0)
		fail_msg("%s: %s", buf_text(&text), e.text);
	buf_done(&text);
	keeper_take_orders(w->k, o);
	turn(w);
}

static void order(struct world *w, int generation, const char *pods)
{
	order_with(w, generation, "", pods);
}

#define POD(uid, cpu, memory) "{\"uid\":\"" uid "\",\"cpu\":" #cpu ",\"memory\":" #memory "}"
#define STAYS(uid, cpu, memory)                                                                    \
	"{\"uid\":\"" uid "\",\"cpu\":" #cpu ",\"memory\":" #memory ",\"stays\":true}"
#define SUPPRESS                                                                                   \
	",\"suppress\":true,\"suppress_percent\":65,\"suppress_min_percent\":2,\"suppress_rise_percent\":10"
#define SQUEEZE ",\"hold_percent\":90,\"end_percent\":96"

static void allow(struct world *w, const char *uid)
{
	size_t i = 0;
	while (w->t.allowed[i])
		i++;
	assert_true(i < ROWS(w->t.allowed));
	w->t.allowed[i] = strdup(fake_pod_name(&w->t, uid));
}

static void forget_allowed(struct world *w)
{
	for (size_t i = 0; i < ROWS(w->t.allowed); i++)
		free((char *)(uintptr_t)w->t.allowed[i]);
}

static void expect(struct world *w, const char *cgroup, const char *file, const char *value)
{
	const char *is = fake_get(&w->t, cgroup, file);
	if (strcmp(is, value) != 0)
		fail_msg("%s of %s is \"%s\", not \"%s\"", file, cgroup, is, value);
}

static struct sample *take_sample(struct world *w)
{
	struct buf text;
	struct sample *s;
	struct err e = {""};
	buf_init(&text, SAMPLE_BYTES_MAX);
	keeper_put_sample(w->k, &text);
	if (wire_read_sample(w->json, buf_slice(&text), &s, &e) != 0)
		fail_msg("%s: %s", buf_text(&text), e.text);
	buf_done(&text);
	return s;
}

/* Counts deeds of a kind that were not acknowledged. */
static int deeds(struct world *w, enum deed_kind kind)
{
	struct sample *s = take_sample(w);
	int n = 0;
	for (size_t i = 0; i < s->ndeeds; i++)
		n += s->deeds[i].kind == kind;
	sample_free(s);
	return n;
}

static void put_use(const struct world *w)
{
	char path[400], text[128];
	snprintf(
		text, sizeof(text), "cpu  %lld 0 0 0 0 0 0 0 0 0\n", (long long)w->node_us / 10000);
	put_proc(w, "stat", text);
	snprintf(path, sizeof(path), "%s/../cpu.stat", fake_tier(&w->t, "cpu.stat"));
	snprintf(text, sizeof(text), "usage_usec %lld\n", (long long)w->pods_us);
	fake_file(path, text);
	snprintf(text, sizeof(text), "usage_usec %lld\nnr_throttled 0\nthrottled_usec 0",
		(long long)w->a_us);
	fake_put(&w->t, A, "cpu.stat", text);
}

/* Has the node, its pods and A use cpu for a while: thousandths of a core. On v2. */
static void use(struct world *w, int64_t ms, int64_t node, int64_t pods, int64_t a)
{
	for (int64_t step = 50; ms > 0; ms -= step) {
		w->node_us += node * step;
		w->pods_us += pods * step;
		w->a_us += a * step;
		put_use(w);
		pass(w, step);
	}
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* What a pod asks for stands in its cgroups as soon as the notice of its directory has come; and
 * those that no order names are not touched, whatever they are. */
static void limits_at_the_birth_of_a_pod(void **state)
{
	static const struct {
		enum cgroup_version version;
		bool systemd;
		const char *quota, *weight, *memory;
	} table[] = {
		{CGROUP_V2, true, "30000 100000", "30", "67108864"},
		{CGROUP_V2, false, "30000 100000", "30", "67108864"},
		{CGROUP_V1, false, "30000", "307", "67108864"},
		{CGROUP_V1, true, "30000", "307", "67108864"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(table); i++) {
		struct world w;
		begin(&w, table[i].version, table[i].systemd);
		fake_pod_make(&w.t, C); /* was there before */
		order(&w, 1, POD(A, 300, 67108864));
		pass(&w, 100);
		assert_true(keeper_has_tier(w.k));
		allow(&w, A);
		fake_pod_make(&w.t, B);
		fake_pod_make(&w.t, A);
		turn(&w); /* no tick, no time */
		expect(&w, A, "cpu.max", table[i].quota);
		expect(&w, A, "cpu.weight", table[i].weight);
		expect(&w, A, "memory.max", table[i].memory);
		pass(&w, 12000);
		expect(&w, B, "cpu.weight", table[i].version == CGROUP_V2 ? "1" : "2");
		assert_int_equal(w.t.writes, 3); /* each once */
		assert_int_equal(deeds(&w, DEED_LIMITED), 1);
		forget_allowed(&w);
		end(&w);
	}
}

/* v1 makes the directories of a pod one after the other. */
static void each_hierarchy_when_its_directory_is_there(void **state)
{
	struct world w;
	char command[700];
	(void)state;
	begin(&w, CGROUP_V1, false);
	allow(&w, A);
	order(&w, 1, POD(A, 300, 67108864));
	pass(&w, 100);
	fake_pod_make(&w.t, A);
	snprintf(command, sizeof(command), "mv '%s' '%s/hidden'", fake_pod(&w.t, A, "memory.max"),
		w.t.root);
	assert_int_equal(system(command), 0);
	turn(&w);
	expect(&w, A, "cpu.max", "30000");
	assert_int_equal(deeds(&w, DEED_LIMITED), 0);
	snprintf(command, sizeof(command), "mv '%s/hidden' '%s'", w.t.root,
		fake_pod(&w.t, A, "memory.max"));
	assert_int_equal(system(command), 0);
	turn(&w);
	expect(&w, A, "memory.max", "67108864");
	assert_int_equal(deeds(&w, DEED_LIMITED), 1);
	forget_allowed(&w);
	end(&w);
}

/* Orders that come after the pod; others later, and none at last, which takes everything back. */
static void orders_that_change(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	fake_pod_make(&w.t, A);
	pass(&w, 2000);
	expect(&w, A, "cpu.max", "max 100000");
	allow(&w, A);
	order(&w, 1, POD(A, 300, 67108864));
	pass(&w, 10);
	expect(&w, A, "cpu.max", "30000 100000");
	assert_int_equal(keeper_generation(w.k), 1);
	order(&w, 2, POD(A, 500, 0));
	pass(&w, 10);
	expect(&w, A, "cpu.max", "50000 100000");
	expect(&w, A, "memory.max", "max");
	order(&w, 3, POD(B, 500, 0));
	expect(&w, A, "cpu.max", "max 100000");
	expect(&w, A, "cpu.weight", "1");
	size_t writes = w.t.writes;
	pass(&w, 12000);
	assert_int_equal(w.t.writes, writes);
	forget_allowed(&w);
	end(&w);
}

/* What cannot be taken back is owed until it can; orders that name the pod again are no less good. */
static void what_cannot_be_taken_back_is_tried_again(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	order(&w, 1, POD(A, 300, 67108864));
	pass(&w, 10);
	w.t.refuses = "aaaaaaaa_93ab_4f1e_8a55_0123456789ab.slice/memory.max";
	w.t.refusal = EBUSY;
	order(&w, 2, "");
	pass(&w, 12000);
	expect(&w, A, "cpu.max", "max 100000");
	expect(&w, A, "memory.max", "67108864");
	w.t.refuses = NULL;
	order(&w, 3, POD(A, 500, 67108864));
	pass(&w, 10);
	expect(&w, A, "cpu.max", "50000 100000");
	w.t.refuses = "aaaaaaaa_93ab_4f1e_8a55_0123456789ab.slice/cpu.max";
	order(&w, 4, "");
	pass(&w, 1000);
	expect(&w, A, "cpu.max", "50000 100000");
	w.t.refuses = NULL;
	pass(&w, 6000);
	expect(&w, A, "cpu.max", "max 100000");
	expect(&w, A, "memory.max", "max");
	size_t writes = w.t.writes;
	fake_put(&w.t, A, "memory.max", "1000"); /* no business of ours any more */
	pass(&w, 12000);
	assert_int_equal(w.t.writes, writes);
	forget_allowed(&w);
	end(&w);
}

static void limits_that_are_not_wanted(void **state)
{
	struct world w;
	struct orders *o;
	struct err e = {""};
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	order(&w, 1, POD(A, 300, 67108864));
	pass(&w, 10);
	assert_int_equal(
		wire_read_orders(w.json,
			slice_of("{\"generation\":2,\"lends\":true,\"cpu\":4000,\"pods\":[" POD(
				A, 300, 67108864) "]}"),
			&o, &e),
		0);
	keeper_take_orders(w.k, o);
	pass(&w, 10);
	expect(&w, A, "cpu.max", "max 100000");
	expect(&w, A, "memory.max", "max");
	/* And a node that lends nothing any more. */
	order(&w, 3, POD(A, 300, 67108864));
	pass(&w, 10);
	expect(&w, A, "cpu.max", "30000 100000");
	assert_int_equal(wire_read_orders(w.json, slice_of("{\"generation\":4}"), &o, &e), 0);
	keeper_take_orders(w.k, o);
	expect(&w, A, "cpu.max", "max 100000");
	forget_allowed(&w);
	end(&w);
}

/* Containers of each runtime, one of which comes later; the pod's other ones are left alone. */
static void containers(void **state)
{
	static const struct {
		enum cgroup_version version;
		bool systemd;
		const char *first, *second;
		const char *quota;
	} table[] = {
		{CGROUP_V2, true, "cri-containerd-" ID_1 ".scope", "cri-containerd-" ID_2 ".scope",
			"20000 100000"},
		{CGROUP_V2, true, "crio-" ID_1 ".scope", "crio-" ID_2 ".scope", "20000 100000"},
		{CGROUP_V1, true, "docker-" ID_1 ".scope", "docker-" ID_2 ".scope", "20000"},
		{CGROUP_V1, false, ID_1, ID_2, "20000"},
		{CGROUP_V2, false, "crio-" ID_1, "crio-" ID_2, "20000 100000"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(table); i++) {
		struct world w;
		char name[200];
		begin(&w, table[i].version, table[i].systemd);
		allow(&w, A);
		fake_pod_make(&w.t, A);
		fake_container_make(&w.t, A, table[i].first);
		fake_container_make(&w.t, A, "crio-conmon-" ID_1 ".scope");
		order(&w, 1,
			"{\"uid\":\"" A "\",\"cpu\":300,\"memory\":100000000,\"containers\":["
			"{\"id\":\"" ID_1 "\",\"cpu\":100,\"memory\":33554432},"
			"{\"id\":\"" ID_2 "\",\"cpu\":200,\"memory\":0}]}");
		pass(&w, 10);
		snprintf(name, sizeof(name), A "/%s", table[i].first);
		expect(&w, name, "memory.max", "33554432");
		fake_container_make(&w.t, A, table[i].second);
		turn(&w);
		snprintf(name, sizeof(name), A "/%s", table[i].second);
		expect(&w, name, "cpu.max", table[i].quota);
		expect(&w, name, "memory.max",
			table[i].version == CGROUP_V2 ? "max" : "9223372036854771712");
		expect(&w, A "/crio-conmon-" ID_1 ".scope", "cpu.weight",
			table[i].version == CGROUP_V2 ? "1" : "2");
		forget_allowed(&w);
		end(&w);
	}
}

/* A pod that uses more than it asked for already: nothing is killed for it, and it has 30 s. */
static void a_late_limit(void **state)
{
	struct world w;
	struct sample *s;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	fake_put(&w.t, A, "memory.current", "100000000");
	order(&w, 1, POD(A, 300, 67108864));
	pass(&w, 5000);
	expect(&w, A, "memory.max", "max");
	expect(&w, A, "memory.high", "67108864");
	s = take_sample(&w);
	pass(&w, 1000);
	sample_free(s);
	s = take_sample(&w);
	assert_int_equal(s->npods, 1);
	assert_true(s->pods[0].over);
	sample_free(s);
	fake_put(&w.t, A, "memory.current", "60000000");
	pass(&w, 2000);
	expect(&w, A, "memory.max", "67108864");
	expect(&w, A, "memory.high", "max");
	assert_int_equal(w.t.kills, 0);
	end(&w);
	forget_allowed(&w);
}

static void a_late_limit_of_v1_follows_use(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V1, false);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	fake_put(&w.t, A, "memory.current", "100007936");
	order(&w, 1, POD(A, 300, 67108864));
	pass(&w, 10);
	int64_t limit = strtoll(fake_get(&w.t, A, "memory.max"), NULL, 10);
	assert_true(limit >= 100007936 && limit < 100007936 + 2 * MIB);
	fake_put(&w.t, A, "memory.current", "60000000");
	pass(&w, 2000);
	expect(&w, A, "memory.max", "67108864");
	assert_int_equal(deeds(&w, DEED_REFUSED), 0);
	end(&w);
	forget_allowed(&w);
}

/* ---- others ---------------------------------------------------------------------------------- */

static void a_value_that_is_undone_is_written_again(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	order(&w, 1, POD(A, 300, 67108864));
	pass(&w, 10);
	for (int i = 0; i < 10; i++) {
		fake_put(&w.t, A, "memory.max", "max");
		turn(&w);
		expect(&w, A, "memory.max", "67108864");
	}
	assert_int_equal(deeds(&w, DEED_UNDONE), 0);
	/* The eleventh within a minute is left, and said once. */
	fake_put(&w.t, A, "memory.max", "max");
	pass(&w, 5000);
	expect(&w, A, "memory.max", "max");
	expect(&w, A, "cpu.max", "30000 100000");
	assert_int_equal(deeds(&w, DEED_UNDONE), 1);
	pass(&w, 60000);
	expect(&w, A, "memory.max", "67108864");
	forget_allowed(&w);
	end(&w);
}

/* A refusal is told once, ends its own list, and no other. */
static void a_refusal(void **state)
{
	struct world w;
	struct sample *s;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	allow(&w, B);
	fake_pod_make(&w.t, A);
	fake_pod_make(&w.t, B);
	w.t.refuses = "aaaaaaaa_93ab_4f1e_8a55_0123456789ab.slice/cpu.max";
	w.t.refusal = EINVAL;
	order(&w, 1, POD(A, 300, 67108864) "," POD(B, 300, 67108864));
	pass(&w, 3000);
	expect(&w, A, "cpu.max", "max 100000");
	expect(&w, A, "memory.max", "67108864");
	expect(&w, B, "cpu.max", "30000 100000");
	s = take_sample(&w);
	int refused = 0, limited = 0;
	for (size_t i = 0; i < s->ndeeds; i++) {
		limited += s->deeds[i].kind == DEED_LIMITED;
		if (s->deeds[i].kind != DEED_REFUSED)
			continue;
		refused++;
		assert_string_equal(s->deeds[i].file, "cpu.max");
		assert_int_equal(s->deeds[i].value, EINVAL);
	}
	assert_int_equal(refused, 1);
	assert_int_equal(limited, 1);
	sample_free(s);
	w.t.refuses = NULL;
	pass(&w, 1000);
	expect(&w, A, "cpu.max", "30000 100000");
	/* A kernel that takes it and does not take it, in turn. */
	const char *file = "aaaaaaaa_93ab_4f1e_8a55_0123456789ab.slice/cpu.max";
	for (int i = 2; i < 10; i++) {
		w.t.refuses = i % 2 ? NULL : file;
		w.t.refusal = i % 4 ? EBUSY : EINVAL;
		order(&w, i, i % 4 < 2 ? POD(A, 400, 67108864) : POD(A, 500, 67108864));
		pass(&w, 1000);
	}
	assert_int_equal(deeds(&w, DEED_REFUSED), 1);
	forget_allowed(&w);
	end(&w);
}

/* A kubelet may have set memory.high of a container (MemoryQoS). */
static void what_a_kubelet_holds_a_container_at_stays(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, false);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	fake_container_make(&w.t, A, ID_1);
	fake_container_make(&w.t, A, ID_2);
	fake_put(&w.t, A "/" ID_1, "memory.high", "900005888");
	fake_put(&w.t, A "/" ID_2, "memory.high", "33554432"); /* by an agent before */
	order(&w, 1,
		"{\"uid\":\"" A "\",\"cpu\":300,\"memory\":100000000,\"containers\":["
		"{\"id\":\"" ID_1 "\",\"cpu\":100,\"memory\":33554432},"
		"{\"id\":\"" ID_2 "\",\"cpu\":100,\"memory\":33554432}]}");
	pass(&w, 3000);
	expect(&w, A "/" ID_1, "memory.max", "33554432");
	expect(&w, A "/" ID_1, "memory.high", "900005888");
	expect(&w, A "/" ID_2, "memory.high", "max");
	forget_allowed(&w);
	end(&w);
}

static void half_a_line_is_no_value(void **state)
{
	struct world w;
	char path[600];
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	snprintf(path, sizeof(path), "%s/cpu.max", fake_pod(&w.t, A, "cpu.max"));
	fake_file(path, "max 1000");
	order(&w, 1, POD(A, 300, 67108864));
	pass(&w, 2000);
	expect(&w, A, "cpu.max", "max 1000");
	fake_file(path, "max 50000\n"); /* another period: the quota is by it */
	pass(&w, 2000);
	expect(&w, A, "cpu.max", "15000 50000");
	forget_allowed(&w);
	end(&w);
}

static void a_pod_that_goes(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	allow(&w, B);
	fake_pod_make(&w.t, A);
	fake_pod_make(&w.t, B);
	order(&w, 1, POD(A, 300, 67108864) "," POD(B, 300, 67108864));
	pass(&w, 2000);
	fake_pod_remove(&w.t, A);
	pass(&w, 6000);
	struct sample *s = take_sample(&w);
	pass(&w, 2000);
	sample_free(s);
	s = take_sample(&w);
	assert_int_equal(s->npods, 1);
	sample_free(s);
	/* The same uid again (a node that was emptied): as new. */
	fake_pod_make(&w.t, A);
	turn(&w);
	expect(&w, A, "cpu.max", "30000 100000");
	forget_allowed(&w);
	end(&w);
}

/* ---- cpu ------------------------------------------------------------------------------------- */

/* Ordinary pods rise: the lent one falls with the next tick, and rises when they have been quiet for
 * three seconds. */
static void ordinary_pods_rise(void **state)
{
	struct world w;
	struct sample *s;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	order_with(&w, 1, SUPPRESS, POD(A, 2000, 67108864));
	use(&w, 1000, 1500, 1500, 1500);
	use(&w, 1000, 1500, 1500, 1500);
	expect(&w, A, "cpu.max", "200000 100000");
	use(&w, 1000, 3500, 3500, 1500); /* 2.6 may be used, ordinary ones take 2 */
	s = take_sample(&w);
	assert_int_equal(s->may_milli, 600);
	assert_true(s->has_used);
	sample_free(s);
	expect(&w, A, "cpu.max", "60000 100000");
	/* While it is held each quarter of a second counts. */
	use(&w, 250, 2800, 2800, 500);
	expect(&w, A, "cpu.max", "30000 100000");
	use(&w, 1000, 500, 500, 300);
	expect(&w, A, "cpu.max", "30000 100000");
	for (int i = 0; i < 12; i++)
		use(&w, 1000, 500, 500, 300);
	expect(&w, A, "cpu.max", "200000 100000");
	forget_allowed(&w);
	end(&w);
}

/* A pod that comes is lent from its first moment on, and hinders nobody as an ordinary one would. */
static void a_pod_that_comes_in_a_tick(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	order_with(&w, 1, SUPPRESS, POD(A, 2000, 67108864));
	pass(&w, 2500);
	fake_pod_make(&w.t, A);
	turn(&w);
	expect(&w, A, "cpu.max", "200000 100000");
	use(&w, 1000, 2000, 2000, 2000);
	expect(&w, A, "cpu.max", "200000 100000");
	forget_allowed(&w);
	end(&w);
}

static void a_tick_that_comes_late_divides_nothing(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	order_with(&w, 1, SUPPRESS, POD(A, 2000, 67108864));
	use(&w, 1000, 1500, 1500, 1500);
	use(&w, 1000, 1500, 1500, 1500);
	clock_us += 60 * 1000000;
	w.node_us += 60 * 4000000; /* all cpus were busy while it slept */
	use(&w, 50, 4000, 4000, 0);
	expect(&w, A, "cpu.max", "200000 100000");
	struct sample *s = take_sample(&w);
	assert_false(s->has_used);
	sample_free(s);
	forget_allowed(&w);
	end(&w);
}

/* What an agent before wrote is where this one begins. */
static void quotas_and_clamps_of_before_hold(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	fake_put(&w.t, A, "cpu.max", "40000 100000");
	fake_put(&w.t, A, "memory.high", "50003968");
	fake_put(&w.t, A, "memory.max", "67108864");
	available(&w, 1300); /* 87 %: between what lifts a clamp and what makes one */
	order_with(&w, 1, SUPPRESS SQUEEZE, POD(A, 2000, 67108864));
	use(&w, 1000, 500, 500, 300);
	use(&w, 1000, 500, 500, 300);
	expect(&w, A, "cpu.max", "40000 100000");
	expect(&w, A, "memory.high", "50003968");
	available(&w, 3000);
	for (int i = 0; i < 12; i++)
		use(&w, 1000, 500, 500, 300);
	expect(&w, A, "cpu.max", "200000 100000");
	expect(&w, A, "memory.high", "max");
	forget_allowed(&w);
	end(&w);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void held_and_lifted(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	fake_put(&w.t, A, "memory.current", "131072000");
	order_with(&w, 1, SQUEEZE, POD(A, 300, 1073741824));
	pass(&w, 2000);
	expect(&w, A, "memory.high", "max");
	available(&w, 990);
	pass(&w, 1000);
	expect(&w, A, "memory.high", "131072000");
	available(&w, 1200);
	pass(&w, 5000);
	expect(&w, A, "memory.high", "131072000");
	/* A pod that comes now begins small, but begins. */
	allow(&w, B);
	order_with(&w, 2, SQUEEZE, POD(A, 300, 1073741824) "," POD(B, 300, 1073741824));
	fake_pod_make(&w.t, B);
	turn(&w);
	expect(&w, B, "memory.high", "16777216");
	available(&w, 1600);
	pass(&w, 1000);
	expect(&w, A, "memory.high", "max");
	expect(&w, B, "memory.high", "max");
	assert_int_equal(deeds(&w, DEED_HELD), 2);
	assert_int_equal(deeds(&w, DEED_LIFTED), 2);
	expect(&w, A, "cgroup.kill", "");
	forget_allowed(&w);
	end(&w);
}

static void held_on_v1_by_the_hard_limit(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V1, false);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	fake_put(&w.t, A, "memory.current", "131072000");
	order_with(&w, 1, SQUEEZE, POD(A, 300, 1073741824));
	pass(&w, 1000);
	expect(&w, A, "memory.max", "1073741824");
	available(&w, 300); /* would be an end on v2 */
	pass(&w, 3000);
	int64_t limit = strtoll(fake_get(&w.t, A, "memory.max"), NULL, 10);
	assert_true(limit >= 131072000 && limit <= 131072000 + 2 * MIB);
	assert_int_equal(deeds(&w, DEED_ENDED), 0);
	struct sample *s = take_sample(&w);
	assert_true(s->lacks & LACKS_END && s->lacks & LACKS_HOLD);
	sample_free(s);
	available(&w, 5000);
	pass(&w, 1000);
	expect(&w, A, "memory.max", "1073741824");
	forget_allowed(&w);
	end(&w);
}

/* Tell, then end: the first that the orders let be ended, and the next after half a second. */
static void ended_in_order(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	allow(&w, B);
	allow(&w, C);
	fake_pod_make(&w.t, A);
	fake_pod_make(&w.t, B);
	fake_pod_make(&w.t, C);
	order_with(&w, 1, SQUEEZE,
		STAYS(A, 300, 67108864) "," POD(C, 300, 67108864) "," POD(B, 300, 67108864));
	pass(&w, 1000);
	available(&w, 390);
	for (int i = 0; i < 100 && w.at_once == 0; i++)
		pass(&w, 10);
	assert_int_equal(w.at_once, 1);
	expect(&w, C, "cgroup.kill", ""); /* told, not yet ended */
	assert_int_equal(deeds(&w, DEED_ENDING), 1);
	assert_int_equal(deeds(&w, DEED_ENDED), 0);
	pass(&w, 20);
	expect(&w, C, "cgroup.kill", "1");
	assert_int_equal(deeds(&w, DEED_ENDED), 1);
	expect(&w, B, "cgroup.kill", "");
	fake_put(&w.t, C, "cgroup.events", "populated 0\nfrozen 0");
	pass(&w, 450);
	expect(&w, B, "cgroup.kill", "");
	pass(&w, 320);
	expect(&w, B, "cgroup.kill", "1");
	/* Whoever stays is never ended. */
	fake_put(&w.t, B, "cgroup.events", "populated 0\nfrozen 0");
	pass(&w, 15000);
	expect(&w, A, "cgroup.kill", "");
	assert_int_equal(deeds(&w, DEED_ENDED), 2);
	forget_allowed(&w);
	end(&w);
}

/* Has memory run out for C and B, of which C goes first, until the controller is told of C. */
static void end_first(struct world *w)
{
	begin(w, CGROUP_V2, true);
	allow(w, B);
	allow(w, C);
	fake_pod_make(&w->t, B);
	fake_pod_make(&w->t, C);
	order_with(w, 1, SQUEEZE, POD(C, 300, 67108864) "," POD(B, 300, 67108864));
	pass(w, 1000);
	available(w, 390);
	for (int i = 0; i < 100 && w->at_once == 0; i++)
		pass(w, 10);
	assert_int_equal(w->at_once, 1);
}

/* What a pod had is not free before its processes are gone: so the next one is not ended for it. After
 * three seconds they may never go. */
static void the_next_one_lives_until_the_first_is_gone(void **state)
{
	struct world w;
	(void)state;
	end_first(&w);
	pass(&w, 20);
	expect(&w, C, "cgroup.kill", "1");
	pass(&w, 2700);
	expect(&w, B, "cgroup.kill", "");
	assert_int_equal(deeds(&w, DEED_ENDING), 1);
	pass(&w, 700);
	expect(&w, B, "cgroup.kill", "1");
	forget_allowed(&w);
	end(&w);
}

static void an_end_that_was_refused_is_none(void **state)
{
	struct world w;
	char path[600];
	(void)state;
	end_first(&w);
	snprintf(path, sizeof(path), "%s/cgroup.kill", fake_pod(&w.t, C, "cgroup.kill"));
	assert_int_equal(unlink(path), 0);
	pass(&w, 100);
	assert_int_equal(deeds(&w, DEED_ENDING), 1);
	assert_int_equal(deeds(&w, DEED_ENDED), 0);
	assert_int_equal(deeds(&w, DEED_REFUSED), 1);
	forget_allowed(&w);
	end(&w);
}

/* Orders that come between the word and the deed save a pod. */
static void the_newest_orders_save_a_pod(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	order_with(&w, 1, SQUEEZE, POD(A, 300, 67108864));
	pass(&w, 1000);
	available(&w, 390);
	for (int i = 0; i < 100 && w.at_once == 0; i++)
		pass(&w, 10);
	order_with(&w, 2, SQUEEZE, STAYS(A, 300, 67108864));
	pass(&w, 3000);
	expect(&w, A, "cgroup.kill", "");
	assert_int_equal(deeds(&w, DEED_ENDED), 0);
	forget_allowed(&w);
	end(&w);
}

static void without_memavailable_nothing_is_done(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	put_proc(&w, "meminfo", "MemTotal: 10240000 kB\nMemFree: 1 kB\n");
	order_with(&w, 1, SQUEEZE, POD(A, 300, 67108864));
	pass(&w, 5000);
	expect(&w, A, "memory.high", "max");
	expect(&w, A, "cgroup.kill", "");
	struct sample *s = take_sample(&w);
	assert_int_equal(s->memory_available, -1);
	assert_false(s->has_used);
	sample_free(s);
	forget_allowed(&w);
	end(&w);
}

/* ---- the tier -------------------------------------------------------------------------------- */

static void the_tier_is_made_idle_and_given_back(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	w.t.allowed[1] = strdup("besteffort.slice/cpu.");
	fake_pod_make(&w.t, A);
	order_with(&w, 1, ",\"idle\":\"always\"", POD(A, 300, 67108864));
	pass(&w, 10);
	expect(&w, "", "cpu.idle", "1");
	fake_put(&w.t, "", "cpu.idle", "0"); /* the kubelet's minute */
	turn(&w);
	expect(&w, "", "cpu.idle", "0"); /* its weight comes next, which an idle tier refuses */
	pass(&w, 1010);
	expect(&w, "", "cpu.idle", "1");
	fake_put(&w.t, "", "cpu.weight", "0"); /* as an idle one reads */
	order(&w, 2, POD(A, 300, 67108864));
	pass(&w, 10);
	expect(&w, "", "cpu.idle", "0");
	expect(&w, "", "cpu.weight", "1");
	order_with(&w, 3, ",\"idle\":\"always\"", POD(A, 300, 67108864));
	pass(&w, 1010);
	expect(&w, "", "cpu.idle", "1");
	keeper_give_back(w.k);
	expect(&w, "", "cpu.idle", "0");
	expect(&w, A, "cpu.max", "30000 100000"); /* limits stay */
	forget_allowed(&w);
	end(&w);
	/* A tier that another program made idle is that program's. */
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	fake_put(&w.t, "", "cpu.idle", "1");
	order_with(&w, 1, ",\"idle\":\"always\"", POD(A, 300, 67108864));
	pass(&w, 1010);
	order(&w, 2, POD(A, 300, 67108864));
	pass(&w, 1010);
	keeper_give_back(w.k);
	expect(&w, "", "cpu.idle", "1");
	forget_allowed(&w);
	end(&w);
	/* Never with the cgroupfs driver, whose kubelet would stumble over it. */
	begin(&w, CGROUP_V2, false);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	order_with(&w, 1, ",\"idle\":\"always\"", POD(A, 300, 67108864));
	pass(&w, 1000);
	expect(&w, "", "cpu.idle", "0");
	forget_allowed(&w);
	end(&w);
}

static void what_was_held_is_given_back(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	fake_put(&w.t, A, "memory.current", "50003968");
	order_with(&w, 1, SUPPRESS SQUEEZE, POD(A, 2000, 67108864));
	available(&w, 900);
	use(&w, 1000, 4000, 4000, 1500);
	use(&w, 1000, 4000, 4000, 1500);
	assert_string_not_equal(fake_get(&w.t, A, "cpu.max"), "200000 100000");
	expect(&w, A, "memory.high", "50003968");
	keeper_give_back(w.k);
	expect(&w, A, "cpu.max", "200000 100000");
	expect(&w, A, "memory.high", "max");
	expect(&w, A, "memory.max", "67108864");
	forget_allowed(&w);
	end(&w);
}

static void one_agent_at_a_time(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	order(&w, 1, POD(A, 300, 67108864));
	pass(&w, 10);
	struct keeper *first = w.k;
	w.k = start_keeper(&w);
	order(&w, 2, POD(A, 900, 67108864));
	w.reports = 0;
	fake_pod_make(&w.t, A);
	pass(&w, 3000);
	assert_false(keeper_has_tier(w.k));
	assert_int_equal(w.reports, 0);
	expect(&w, A, "cpu.max", "30000 100000"); /* by the first one's notice */
	keeper_free(first);
	pass(&w, 1100);
	expect(&w, A, "cpu.max", "90000 100000");
	assert_true(w.reports > 0);
	forget_allowed(&w);
	end(&w);
}

static void a_tier_that_comes_later(void **state)
{
	struct world w;
	char command[600], tier[300];
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	snprintf(tier, sizeof(tier), "%s", fake_tier(&w.t, "cpu.max"));
	snprintf(command, sizeof(command), "mv '%s' '%s/x'", tier, w.t.root);
	assert_int_equal(system(command), 0);
	order(&w, 1, POD(A, 300, 67108864));
	pass(&w, 2000);
	struct sample *s = take_sample(&w);
	assert_true(s->lacks & LACKS_TIER);
	assert_true(w.reports > 0);
	sample_free(s);
	snprintf(command, sizeof(command), "mv '%s/x' '%s'", w.t.root, tier);
	assert_int_equal(system(command), 0);
	fake_pod_make(&w.t, A);
	pass(&w, 6000);
	expect(&w, A, "cpu.max", "30000 100000");
	s = take_sample(&w);
	assert_false(s->lacks & LACKS_TIER);
	sample_free(s);
	/* And goes: a node that is set up anew. */
	snprintf(command, sizeof(command), "rm -r '%s'", tier);
	assert_int_equal(system(command), 0);
	pass(&w, 6000);
	assert_false(keeper_has_tier(w.k));
	forget_allowed(&w);
	end(&w);
}

static void everything_is_lifted_by_hand(void **state)
{
	static const enum cgroup_version versions[] = {CGROUP_V1, CGROUP_V2};
	(void)state;
	for (size_t i = 0; i < ROWS(versions); i++) {
		struct world w;
		struct err e = {""};
		begin(&w, versions[i], false);
		bool v2 = w.t.version == CGROUP_V2;
		allow(&w, A);
		fake_pod_make(&w.t, A);
		fake_container_make(&w.t, A, ID_1);
		order(&w, 1,
			"{\"uid\":\"" A "\",\"cpu\":300,\"memory\":100000000,\"containers\":["
			"{\"id\":\"" ID_1 "\",\"cpu\":100,\"memory\":33554432}]}");
		pass(&w, 10);
		expect(&w, A "/" ID_1, "memory.max", "33554432");
		assert_int_equal(lift_all(w.t.root, NULL, NULL, &e), ERR_BUSY);
		keeper_free(w.k);
		w.k = NULL;
		assert_int_equal(lift_all(w.t.root, NULL, NULL, &e), 1);
		expect(&w, A, "cpu.max", v2 ? "max 100000" : "-1");
		expect(&w, A, "cpu.weight", v2 ? "1" : "2");
		expect(&w, A "/" ID_1, "cpu.max", v2 ? "max 100000" : "-1");
		expect(&w, A "/" ID_1, "memory.max", v2 ? "max" : "-1");
		assert_int_equal(lift_all("/nowhere", NULL, NULL, &e), ERR_GONE);
		forget_allowed(&w);
		end(&w);
	}
}

/* What cannot be taken off is named. */
static void what_is_not_lifted_by_hand_is_said(void **state)
{
	struct world w;
	struct err e = {""};
	char said[4096] = "";
	(void)state;
	begin(&w, CGROUP_V2, true);
	keeper_free(w.k);
	w.k = NULL;
	allow(&w, A);
	allow(&w, B);
	w.t.allowed[2] = strdup("besteffort.slice/cpu.");
	fake_pod_make(&w.t, A);
	fake_pod_make(&w.t, B);
	fake_put(&w.t, A, "cpu.max", "30000 100000");
	fake_put(&w.t, B, "cpu.max", "30000 100000");
	fake_put(&w.t, "", "cpu.idle", "1");
	FILE *file = tmpfile();
	struct log *log = log_new(fileno(file), LOG_TEXT, LEVEL_INFO);
	w.t.refuses = "aaaaaaaa_93ab_4f1e_8a55_0123456789ab.slice/cpu.max";
	w.t.refusal = EINVAL;
	assert_int_equal(lift_all(w.t.root, NULL, log, &e), ERR_LIMIT);
	expect(&w, B, "cpu.max", "max 100000");
	expect(&w, "", "cpu.idle", "0");
	fake_put(&w.t, "", "cpu.idle", "1");
	w.t.refuses = "besteffort.slice/cpu.idle";
	assert_int_equal(lift_all(w.t.root, NULL, log, &e), ERR_LIMIT);
	w.t.refuses = NULL;
	assert_int_equal(lift_all(w.t.root, NULL, log, &e), 2);
	assert_true(pread(fileno(file), said, sizeof(said) - 1, 0) > 0);
	assert_non_null(strstr(said, "not lifted pod="));
	assert_non_null(strstr(said, "aaaaaaaa_93ab_4f1e_8a55_0123456789ab"));
	assert_non_null(strstr(said, "not lifted tier="));
	log_free(log);
	fclose(file);
	forget_allowed(&w);
	end(&w);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void deeds_are_told_until_they_are_known(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	allow(&w, B);
	fake_pod_make(&w.t, A);
	order(&w, 1, POD(A, 300, 67108864) "," POD(B, 300, 67108864));
	pass(&w, 10);
	struct sample *s = take_sample(&w);
	assert_int_equal(s->ndeeds, 1);
	sample_free(s);
	fake_pod_make(&w.t, B);
	pass(&w, 10);
	keeper_acknowledge(w.k); /* of what was done since it knows nothing */
	s = take_sample(&w);
	assert_int_equal(s->ndeeds, 1);
	assert_int_equal(s->deeds[0].number, 2);
	keeper_acknowledge(w.k);
	keeper_acknowledge(w.k); /* and once more */
	sample_free(s);
	assert_int_equal(deeds(&w, DEED_LIMITED), 0);
	forget_allowed(&w);
	end(&w);
}

/* A sample that the controller does not have takes nothing with it. */
static void a_window_that_was_not_told_is_part_of_the_next(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	fake_pod_make(&w.t, A);
	order(&w, 1, POD(A, 300, 67108864));
	use(&w, 1000, 1000, 0, 0);
	struct sample *s = take_sample(&w);
	keeper_acknowledge(w.k);
	sample_free(s);
	use(&w, 1000, 3000, 0, 0);
	sample_free(take_sample(&w)); /* 429, say */
	use(&w, 1000, 1000, 0, 0);
	s = take_sample(&w);
	assert_in_range(s->window_ms, 1990, 2010);
	assert_in_range(s->used.cpu_milli, 1950, 2050);
	keeper_acknowledge(w.k);
	sample_free(s);
	use(&w, 1000, 1000, 0, 0);
	s = take_sample(&w);
	assert_in_range(s->window_ms, 990, 1010);
	sample_free(s);
	forget_allowed(&w);
	end(&w);
}

/* How often is told: each second while something moves and while lending begins, each five while
 * nothing does, each 30 where nothing is lent. */
static void how_often_is_told(void **state)
{
	struct world w;
	(void)state;
	begin(&w, CGROUP_V2, true);
	allow(&w, A);
	order(&w, 1, POD(B, 300, 67108864));
	fake_pod_make(&w.t, A);
	use(&w, 30000, 100, 0, 0);
	assert_in_range(w.reports, 29, 31);
	w.reports = 0;
	for (int i = 0; i < 60; i++)
		use(&w, 1000, 100 * (i % 3), 0, 0);
	assert_in_range(w.reports, 2, 3);
	order(&w, 2, POD(A, 300, 67108864));
	pass(&w, 2000);
	struct sample *s = take_sample(&w);
	keeper_acknowledge(w.k);
	sample_free(s);
	w.reports = 0;
	for (int i = 0; i < 60; i++)
		use(&w, 1000, 1000, 0, 0);
	assert_in_range(w.reports, 12, 14);
	w.reports = 0;
	for (int i = 0; i < 60; i++)
		use(&w, 1000, 100 * (i % 3), 0, 0);
	assert_in_range(w.reports, 58, 61);
	forget_allowed(&w);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_at_the_birth_of_a_pod),
		cmocka_unit_test(each_hierarchy_when_its_directory_is_there),
		cmocka_unit_test(orders_that_change),
		cmocka_unit_test(what_cannot_be_taken_back_is_tried_again),
		cmocka_unit_test(limits_that_are_not_wanted),
		cmocka_unit_test(containers),
		cmocka_unit_test(a_late_limit),
		cmocka_unit_test(a_late_limit_of_v1_follows_use),
		cmocka_unit_test(a_value_that_is_undone_is_written_again),
		cmocka_unit_test(a_refusal),
		cmocka_unit_test(what_a_kubelet_holds_a_container_at_stays),
		cmocka_unit_test(half_a_line_is_no_value),
		cmocka_unit_test(a_pod_that_goes),
		cmocka_unit_test(ordinary_pods_rise),
		cmocka_unit_test(a_pod_that_comes_in_a_tick),
		cmocka_unit_test(a_tick_that_comes_late_divides_nothing),
		cmocka_unit_test(quotas_and_clamps_of_before_hold),
		cmocka_unit_test(held_and_lifted),
		cmocka_unit_test(held_on_v1_by_the_hard_limit),
		cmocka_unit_test(ended_in_order),
		cmocka_unit_test(the_next_one_lives_until_the_first_is_gone),
		cmocka_unit_test(an_end_that_was_refused_is_none),
		cmocka_unit_test(the_newest_orders_save_a_pod),
		cmocka_unit_test(without_memavailable_nothing_is_done),
		cmocka_unit_test(the_tier_is_made_idle_and_given_back),
		cmocka_unit_test(what_was_held_is_given_back),
		cmocka_unit_test(one_agent_at_a_time),
		cmocka_unit_test(a_tier_that_comes_later),
		cmocka_unit_test(everything_is_lifted_by_hand),
		cmocka_unit_test(what_is_not_lifted_by_hand_is_said),
		cmocka_unit_test(deeds_are_told_until_they_are_known),
		cmocka_unit_test(a_window_that_was_not_told_is_part_of_the_next),
		cmocka_unit_test(how_often_is_told),
	};
	return cmocka_run_group_tests_name("agent/keeper", tests, NULL, NULL);
}
