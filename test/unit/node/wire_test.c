/* Orders and samples as JSON: what was written is read, whatever it says, and what breaks a promise
 * is refused with a sentence that names the member. */
#include "draw.h"

#include "base/json.h"
#include "node/wire.h"

#define SEEDS 1000
#define TREE_MAX (64 << 20)
#define NUMBER_MAX (INT64_C(1) << 53)
#define UID "00112233-4455-6677-8899-aabbccddeeff"
#define UID2 "00112233-4455-6677-8899-aabbccddee00"
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* ---- there and back -------------------------------------------------------------------------- */

/* 0, something, or as much as JSON can say. */
static int64_t draw_number(void)
{
	return once_in(4) ? 0 : once_in(10) ? NUMBER_MAX : below(1000000);
}

static struct load draw_load(void)
{
	return (struct load){draw_number(), draw_number()};
}

static int64_t draw_absent(void)
{
	return once_in(3) ? -1 : draw_number();
}

static void draw_id(char id[CONTAINER_ID_SIZE])
{
	for (size_t i = 0; i < CONTAINER_ID_SIZE - 1; i++)
		id[i] = "0123456789abcdef"[below(16)];
	id[CONTAINER_ID_SIZE - 1] = '\0';
}

static void same_orders(const struct orders *a, const struct orders *b)
{
	struct orders head = *b;
	head.pods = a->pods;
	holds(memcmp(a, &head, sizeof(*a)) == 0);
	for (size_t i = 0; i < a->npods; i++) {
		const struct ordered_pod *p = &a->pods[i], *q = &b->pods[i];
		holds(uid_cmp(&p->uid, &q->uid) == 0 && p->stays == q->stays);
		holds(p->asked.cpu_milli == q->asked.cpu_milli);
		holds(p->asked.memory_bytes == q->asked.memory_bytes);
		holds(p->ncontainers == q->ncontainers);
		for (size_t k = 0; k < p->ncontainers; k++)
			holds(memcmp(&p->containers[k], &q->containers[k],
				      sizeof(*p->containers)) == 0);
		holds(orders_find(b, &p->uid) == q);
	}
}

static void send_orders(void)
{
	static struct ordered_container containers[8][3];
	struct ordered_pod pods[8];
	struct orders o, *back = NULL;
	struct buf text;
	struct err e = {""};
	struct json *j = json_new(TREE_MAX);
	memset(&o, 0, sizeof(o)); /* same_orders() compares all bytes */
	memset(containers, 0, sizeof(containers));
	o.generation = 1 + draw_number();
	if (o.generation > NUMBER_MAX)
		o.generation = 1;
	o.lends = !once_in(4);
	o.limits = once_in(2);
	o.suppress = once_in(2);
	o.capacity = draw_load();
	o.reserved = draw_load();
	o.suppress_percent = draw_number();
	o.suppress_min_percent = draw_number();
	o.suppress_rise_percent = draw_number();
	o.idle = (enum cpu_idle)below(3);
	o.end_percent = below(101);
	o.hold_percent = o.end_percent ? below(o.end_percent) : below(101);
	o.npods = o.lends ? (size_t)below(COUNT(pods) + 1) : 0;
	o.pods = pods;
	for (size_t i = 0; i < o.npods; i++) {
		pods[i] = (struct ordered_pod){.uid = uid_of(i),
			.asked = draw_load(),
			.stays = once_in(3),
			.containers = containers[i],
			.ncontainers = (size_t)below(4)};
		for (size_t k = 0; k < pods[i].ncontainers; k++) {
			draw_id(containers[i][k].id);
			containers[i][k].asked = draw_load();
		}
	}
	buf_init(&text, ORDERS_BYTES_MAX);
	wire_put_orders(&o, &text);
	holds(!text.failed);
	holds(wire_read_orders(j, buf_slice(&text), &back, &e) == 0);
	same_orders(&o, back);
	struct uid unknown = uid_of(99);
	holds(!orders_find(back, &unknown));
	orders_free(back);
	buf_done(&text);
	json_free(j);
}

static void same_sample(const struct sample *a, const struct sample *b)
{
	struct sample head = *b;
	head.pods = a->pods;
	head.deeds = a->deeds;
	holds(memcmp(a, &head, sizeof(*a)) == 0);
	for (size_t i = 0; i < a->npods; i++) {
		const struct sampled_pod *p = &a->pods[i], *q = &b->pods[i];
		holds(uid_cmp(&p->uid, &q->uid) == 0 && p->over == q->over);
		holds(p->used.cpu_milli == q->used.cpu_milli);
		holds(p->used.memory_bytes == q->used.memory_bytes);
		holds(p->quota_milli == q->quota_milli && p->throttled_ms == q->throttled_ms);
	}
	for (size_t i = 0; i < a->ndeeds; i++) {
		const struct deed *p = &a->deeds[i], *q = &b->deeds[i];
		holds(p->number == q->number && p->kind == q->kind && p->value == q->value);
		holds(uid_cmp(&p->uid, &q->uid) == 0 && strcmp(p->file, q->file) == 0);
	}
}

static void draw_sample(struct sample *s, struct sampled_pod *pods, struct deed *deeds)
{
	memset(s, 0, sizeof(*s)); /* same_sample() compares all bytes */
	struct uid boot = uid_of((uint64_t)below(1000));
	uid_format(&boot, s->boot);
	s->number = 1 + below(1000);
	s->window_ms = draw_number();
	s->has_used = once_in(2);
	if (s->has_used)
		s->used = draw_load();
	s->pods_used = (struct load){draw_absent(), draw_absent()};
	s->memory_total = draw_absent();
	s->memory_available = draw_absent();
	s->pressure_us = draw_absent();
	s->may_milli = draw_absent();
	s->lacks = (unsigned)below(LACKS_ALL + 1);
	s->orders = draw_number();
	s->deeds_lost = draw_number();
	s->pods = pods;
	s->npods = (size_t)below(8);
	s->deeds = deeds;
	s->ndeeds = (size_t)below(8);
	for (size_t i = 0; i < s->npods; i++)
		pods[i] = (struct sampled_pod){
			uid_of(i), draw_load(), draw_absent(), draw_number(), once_in(2)};
	for (size_t i = 0; i < s->ndeeds; i++) {
		deeds[i] = (struct deed){.number = (int64_t)i * 3 + 1,
			.kind = (enum deed_kind)below(DEED_KINDS),
			.uid = uid_of(i),
			.value = draw_number()};
		if (once_in(2))
			strcpy(deeds[i].file, "memory.limit_in_bytes");
	}
}

static void send_sample(void)
{
	struct sampled_pod pods[8];
	struct deed deeds[8];
	struct sample s, *back = NULL;
	struct buf text;
	struct err e = {""};
	struct json *j = json_new(TREE_MAX);
	draw_sample(&s, pods, deeds);
	buf_init(&text, SAMPLE_BYTES_MAX);
	wire_put_sample(&s, &text);
	holds(!text.failed);
	holds(wire_read_sample(j, buf_slice(&text), &back, &e) == 0);
	same_sample(&s, back);
	sample_free(back);
	buf_done(&text);
	json_free(j);
}

static void there_and_back(void **state)
{
	(void)state;
	play_seeds(SEEDS, send_orders);
	play_seeds(SEEDS, send_sample);
}

/* ---- what is refused ------------------------------------------------------------------------- */

#define POD(more) "{\"uid\":\"" UID "\"" more "}"
#define LENDS(pods) "{\"generation\":1,\"lends\":true,\"pods\":[" pods "]}"
#define SAMPLE(more) "{\"boot\":\"" UID "\",\"number\":1,\"window_ms\":1000" more "}"
#define DEED(number, more) "{\"number\":" number ",\"kind\":\"ended\",\"uid\":\"" UID "\"" more "}"

struct refusal {
	const char *name, *text, *sentence; /* NULL: it is taken */
};

static void refuse(const struct refusal *rows, size_t n, bool orders)
{
	struct json *j = json_new(TREE_MAX);
	for (size_t i = 0; i < n; i++) {
		struct orders *o = NULL;
		struct sample *s = NULL;
		struct err e = {""};
		int rc = orders ? wire_read_orders(j, slice_of(rows[i].text), &o, &e)
				: wire_read_sample(j, slice_of(rows[i].text), &s, &e);
		same(rows[i].name, "code", rc, rows[i].sentence ? ERR_INVALID : 0);
		same(rows[i].name, "a record", o || s, !rows[i].sentence);
		if (rows[i].sentence && strcmp(e.text, rows[i].sentence) != 0)
			fail_msg("%s: \"%s\", shall be \"%s\"", rows[i].name, e.text,
				rows[i].sentence);
		orders_free(o);
		sample_free(s);
	}
	json_free(j);
}

#define FROM_0 ": a whole number, 0 or above, is needed"

static void orders_that_break_a_promise(void **state)
{
	static const struct refusal rows[] = {
		{"the least", "{\"generation\":1}", NULL},
		{"pods", LENDS(POD("")), NULL},
		{"a member that is not known", "{\"generation\":1,\"more\":[{\"x\":-1}]}", NULL},
		{"a word that is not known", "{\"generation\":1,\"idle\":\"often\"}", NULL},
		{"no generation", "{\"lends\":true}",
			"orders: generation: a whole number above 0 is needed"},
		{"generation 0", "{\"generation\":0}",
			"orders: generation: a whole number above 0 is needed"},
		{"no object", "[]", "orders: generation: a whole number above 0 is needed"},
		{"no JSON", "{\"generation\":1",
			"orders: JSON: ends in the middle, after 15 bytes"},
		{"a part of a number", "{\"generation\":1,\"cpu\":0.5}", "orders: cpu" FROM_0},
		{"a text for a number", "{\"generation\":1,\"memory\":\"1Gi\"}",
			"orders: memory" FROM_0},
		{"below 0", "{\"generation\":1,\"reserved_cpu\":-1}",
			"orders: reserved_cpu" FROM_0},
		{"more than JSON can say", "{\"generation\":1,\"cpu\":1e18}", "orders: cpu" FROM_0},
		{"a percent below 0", "{\"generation\":1,\"suppress_percent\":-65}",
			"orders: suppress_percent" FROM_0},
		{"a text for true", "{\"generation\":1,\"lends\":\"true\"}",
			"orders: lends: true or false is needed"},
		{"more than all is held", "{\"generation\":1,\"hold_percent\":101}",
			"orders: hold_percent: 100 at most is needed"},
		{"more than all is ended", "{\"generation\":1,\"end_percent\":101}",
			"orders: end_percent: 0, or more than hold_percent and 100 at most, is needed"},
		{"ended before it is held",
			"{\"generation\":1,\"hold_percent\":90,\"end_percent\":90}",
			"orders: end_percent: 0, or more than hold_percent and 100 at most, is needed"},
		{"held and never ended", "{\"generation\":1,\"hold_percent\":90}", NULL},
		{"ended and never held", "{\"generation\":1,\"end_percent\":96}", NULL},
		{"pods of a node that lends nothing", "{\"generation\":1,\"pods\":[" POD("") "]}",
			"orders: lends: true where there are pods is needed"},
		{"pods are no array", "{\"generation\":1,\"pods\":{}}",
			"orders: pods: an array is needed"},
		{"a pod that is no object", LENDS("7"), "orders: pods[0]: uid: a uid is needed"},
		{"a uid that is none", LENDS("{\"uid\":\"../../x\"}"),
			"orders: pods[0]: uid: a uid is needed"},
		{"a pod twice", LENDS(POD("") ",{\"uid\":\"" UID2 "\"}," POD("")),
			"orders: pods: each uid once is needed"},
		{"a pod asks for less than nothing",
			LENDS("{\"uid\":\"" UID2 "\"}," POD(",\"cpu\":-1")),
			"orders: pods[1]: cpu" FROM_0},
		{"containers", LENDS(POD(",\"containers\":[{\"id\":\"" ID "\",\"cpu\":5}]")), NULL},
		{"a container without an id", LENDS(POD(",\"containers\":[{}]")),
			"orders: pods[0]: containers[0]: id: a name of 64 hex digits is needed"},
		{"a container's id that is a path",
			LENDS(POD(",\"containers\":[{\"id\":\"../../../../../../../../../../../"
				  "../../../../../../../../../../../\"}]")),
			"orders: pods[0]: containers[0]: id: a name of 64 hex digits is needed"},
		{"a container twice",
			LENDS(POD(",\"containers\":[{\"id\":\"" ID "\"},{\"id\":\"" ID "\"}]")),
			"orders: pods[0]: containers: each id once is needed"},
		{"a container asks for less than nothing",
			LENDS(POD(",\"containers\":[{\"id\":\"" ID "\",\"memory\":-1}]")),
			"orders: pods[0]: containers[0]: memory" FROM_0},
	};
	(void)state;
	refuse(rows, COUNT(rows), true);
}

static void samples_that_break_a_promise(void **state)
{
	static const struct refusal rows[] = {
		{"the least", SAMPLE(""), NULL},
		{"a lack that is not known", SAMPLE(",\"lacks\":[\"wings\",\"hold\",7]"), NULL},
		{"a member that is not known", SAMPLE(",\"swap\":{\"x\":-1}"), NULL},
		{"cpu alone", SAMPLE(",\"cpu\":5"), NULL},
		{"no boot", "{\"number\":1,\"window_ms\":1}", "sample: boot: a uid is needed"},
		{"a boot that a terminal obeys",
			"{\"boot\":\"\\u001b[2J5555-5555-6666-7777-888888888888\",\"number\":1}",
			"sample: boot: a uid is needed"},
		{"no number", "{\"boot\":\"" UID "\"}",
			"sample: number: a whole number above 0 is needed"},
		{"number 0", "{\"boot\":\"" UID "\",\"number\":0}",
			"sample: number: a whole number above 0 is needed"},
		{"no window", "{\"boot\":\"" UID "\",\"number\":1}", "sample: window_ms" FROM_0},
		{"use below 0", SAMPLE(",\"cpu\":-1"), "sample: cpu" FROM_0},
		{"available below 0", SAMPLE(",\"memory_available\":-1"),
			"sample: memory_available" FROM_0},
		{"no number at all", SAMPLE(",\"may_cpu\":true"), "sample: may_cpu" FROM_0},
		{"lacks are no array", SAMPLE(",\"lacks\":\"hold\""),
			"sample: lacks: an array is needed"},
		{"a pod without use", SAMPLE(",\"pods\":[" POD(",\"memory\":1") "]"),
			"sample: pods[0]: cpu" FROM_0},
		{"a pod twice",
			SAMPLE(",\"pods\":[" POD(",\"cpu\":1,\"memory\":1") "," POD(
				",\"cpu\":1,\"memory\":1") "]"),
			"sample: pods: each uid once is needed"},
		{"deeds", SAMPLE(",\"deeds\":[" DEED("1", "") "," DEED("9", "") "]"), NULL},
		{"a deed of no pod", SAMPLE(",\"deeds\":[{\"number\":1,\"kind\":\"held\"}]"),
			"sample: deeds[0]: uid: a uid is needed"},
		{"a deed without a number", SAMPLE(",\"deeds\":[" DEED("0", "") "]"),
			"sample: deeds[0]: number: a whole number above 0 is needed"},
		{"deeds in no order", SAMPLE(",\"deeds\":[" DEED("2", "") "," DEED("2", "") "]"),
			"sample: deeds: an order by number is needed"},
		{"a file that is a path",
			SAMPLE(",\"deeds\":[" DEED("1", ",\"file\":\"../x\"") "]"),
			"sample: deeds[0]: file: the name of a cgroup's file is needed"},
		{"a file whose name is long",
			SAMPLE(",\"deeds\":[" DEED(
				"1", ",\"file\":\"memory.limit_in_bytes.xx\"") "]"),
			"sample: deeds[0]: file: the name of a cgroup's file is needed"},
	};
	(void)state;
	refuse(rows, COUNT(rows), false);
}

/* ---- bounds, and other versions -------------------------------------------------------------- */

static void as_many_as_may_be(void **state)
{
	static struct ordered_pod ordered[ORDERS_PODS_MAX + 1];
	static struct sampled_pod sampled[SAMPLE_PODS_MAX + 1];
	static struct deed deeds[SAMPLE_DEEDS_MAX + 1];
	struct orders o = {.generation = 1, .lends = true, .pods = ordered}, *orders = NULL;
	struct sample s = {.boot = UID, .number = 1, .pods = sampled, .deeds = deeds};
	struct sample *sample = NULL;
	struct json *j = json_new(TREE_MAX);
	struct buf text;
	struct err e = {""};
	(void)state;
	for (size_t i = 0; i < COUNT(ordered); i++) {
		ordered[i] =
			(struct ordered_pod){.uid = uid_of(i), .asked = {NUMBER_MAX, NUMBER_MAX}};
		sampled[i] = (struct sampled_pod){
			uid_of(i), {NUMBER_MAX, NUMBER_MAX}, NUMBER_MAX, NUMBER_MAX, true};
	}
	for (size_t i = 0; i < COUNT(deeds); i++)
		deeds[i] = (struct deed){(int64_t)i + 1, DEED_LIMITED, uid_of(i),
			"memory.limit_in_bytes12", NUMBER_MAX};
	buf_init(&text, 1 << 20);
	for (size_t over = 0; over < 2; over++) {
		o.npods = ORDERS_PODS_MAX + over;
		buf_reset(&text);
		wire_put_orders(&o, &text);
		assert_int_equal(
			wire_read_orders(j, buf_slice(&text), &orders, &e), over ? ERR_LIMIT : 0);
		s.npods = SAMPLE_PODS_MAX + over;
		s.ndeeds = SAMPLE_DEEDS_MAX;
		buf_reset(&text);
		wire_put_sample(&s, &text);
		assert_true(over || text.len <= SAMPLE_BYTES_MAX);
		assert_int_equal(
			wire_read_sample(j, buf_slice(&text), &sample, &e), over ? ERR_LIMIT : 0);
	}
	assert_string_equal(e.text, "sample: pods: 1025 are more than 1024");
	s.npods = 0;
	s.ndeeds = SAMPLE_DEEDS_MAX + 1;
	buf_reset(&text);
	wire_put_sample(&s, &text);
	assert_int_equal(
		wire_read_sample(j, buf_slice(&text), &(struct sample *){NULL}, &e), ERR_LIMIT);
	assert_string_equal(e.text, "sample: deeds: 65 are more than 64");
	orders_free(orders);
	sample_free(sample);
	buf_done(&text);
	json_free(j);
}

static void as_long_as_may_be(void **state)
{
	char *text = malloc(ORDERS_BYTES_MAX + 1);
	struct json *j = json_new(TREE_MAX);
	struct orders *o = NULL;
	struct sample *s = NULL;
	struct err e = {""};
	(void)state;
	assert_non_null(text);
	memset(text, ' ', ORDERS_BYTES_MAX + 1);
	memcpy(text, "{\"generation\":1}", 16);
	assert_int_equal(wire_read_orders(j, (struct slice){text, ORDERS_BYTES_MAX}, &o, &e), 0);
	orders_free(o);
	assert_int_equal(
		wire_read_orders(j, (struct slice){text, ORDERS_BYTES_MAX + 1}, &o, &e), ERR_LIMIT);
	assert_string_equal(e.text, "orders: 524289 bytes are more than 524288");
	memset(text, ' ', ORDERS_BYTES_MAX + 1);
	memcpy(text, SAMPLE(""), strlen(SAMPLE("")));
	assert_int_equal(wire_read_sample(j, (struct slice){text, SAMPLE_BYTES_MAX}, &s, &e), 0);
	sample_free(s);
	assert_int_equal(
		wire_read_sample(j, (struct slice){text, SAMPLE_BYTES_MAX + 1}, &s, &e), ERR_LIMIT);
	assert_string_equal(e.text, "sample: 196609 bytes are more than 196608");
	free(text);
	json_free(j);
}

/* Reads what a newer agent says: a deed and a lack of which nothing is known here. */
static void of_a_newer_agent(void **state)
{
	static const char text[] =
		SAMPLE(",\"lacks\":[\"hold\",\"wings\",\"pressure\"],\"deeds\":[" DEED(
			"1", "") ","
				 "{\"number\":2,\"kind\":\"praised\",\"uid\":\"" UID
				 "\"}," DEED("3", "") "]");
	struct json *j = json_new(TREE_MAX);
	struct sample *s = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(wire_read_sample(j, slice_of(text), &s, &e), 0);
	assert_int_equal(s->lacks, LACKS_HOLD | LACKS_PRESSURE);
	assert_int_equal(s->ndeeds, 2);
	assert_int_equal(s->deeds[0].number, 1);
	assert_int_equal(s->deeds[1].number, 3);
	sample_free(s);
	json_free(j);
}

static void what_is_absent_is_not_0(void **state)
{
	struct json *j = json_new(TREE_MAX);
	struct sample *s = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(wire_read_sample(j, slice_of(SAMPLE(",\"memory\":5")), &s, &e), 0);
	assert_false(s->has_used);
	assert_int_equal(s->pods_used.cpu_milli, -1);
	assert_int_equal(s->pods_used.memory_bytes, -1);
	assert_int_equal(s->memory_total, -1);
	assert_int_equal(s->memory_available, -1);
	assert_int_equal(s->pressure_us, -1);
	assert_int_equal(s->may_milli, -1);
	sample_free(s);
	json_free(j);
}

/* Holds the texts of wire.h, which docs/protocol.md points to. */
static void how_it_looks(void **state)
{
	struct ordered_container c = {ID, {1000, 536870912}};
	struct ordered_pod p = {
		.asked = {1500, 1 << 30}, .stays = true, .containers = &c, .ncontainers = 1};
	struct orders o = {.generation = 18,
		.lends = true,
		.limits = true,
		.suppress = true,
		.capacity = {96000, 404620279808},
		.reserved = {2000, 0},
		.suppress_percent = 65,
		.suppress_min_percent = 2,
		.suppress_rise_percent = 10,
		.idle = CPU_IDLE_AUTO,
		.hold_percent = 90,
		.end_percent = 96,
		.pods = &p,
		.npods = 1};
	struct buf text;
	(void)state;
	assert_true(uid_parse(UID, &p.uid));
	buf_init(&text, 1 << 20);
	wire_put_orders(&o, &text);
	assert_string_equal(buf_text(&text),
		"{\"generation\":18,\"lends\":true,\"limits\":true,\"suppress\":true,\"cpu\":96000,"
		"\"memory\":404620279808,\"reserved_cpu\":2000,\"suppress_percent\":65,"
		"\"suppress_min_percent\":2,\"suppress_rise_percent\":10,\"idle\":\"auto\","
		"\"hold_percent\":90,\"end_percent\":96,\"pods\":[{\"uid\":\"" UID
		"\",\"cpu\":1500,\"memory\":1073741824,\"stays\":true,\"containers\":[{\"id\":\"" ID
		"\",\"cpu\":1000,\"memory\":536870912}]}]}");
	buf_done(&text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(orders_that_break_a_promise),
		cmocka_unit_test(samples_that_break_a_promise),
		cmocka_unit_test(as_many_as_may_be),
		cmocka_unit_test(as_long_as_may_be),
		cmocka_unit_test(of_a_newer_agent),
		cmocka_unit_test(what_is_absent_is_not_0),
		cmocka_unit_test(how_it_looks),
	};
	take_seed(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
