/*
 * The link with an API server and leaders that do as they are told: leaders change, refuse, cut
 * their answers, say nothing, send too much.
 */
#include "../kube/test.h"

#include "../kube/scripted_server.h"
#include "agent/link.h"
#include "controller/kube/config.h"
#include "node/sample.h"

#define CONFIGMAP "GET /api/v1/namespaces/sluice-system/configmaps/sluice-nodes"
#define ORDERS "GET /v1/node/orders?have="
#define SAMPLE "POST /v1/node/sample"

struct world {
	struct ev_loop *loop;
	struct scripted_server *api, *leader, *next; /* next: who leads later */
	struct kube_config *config;
	char *dir, token[256];
	struct link_to_leader *link;
	/* What the link gave. */
	int64_t generations[16];
	size_t taken;
	int64_t samples, acknowledged;
	bool endless; /* samples are longer than one may be */
	struct log *log;
	char text[64]; /* of the newest orders */
};

static void on_orders(struct orders *o, struct slice text, void *ctx)
{
	struct world *w = ctx;
	assert_true(w->taken < ROWS(w->generations));
	w->generations[w->taken++] = o->generation;
	snprintf(w->text, sizeof(w->text), "%.*s", (int)text.len, text.ptr);
	orders_free(o);
}

static void on_sample(struct buf *out, void *ctx)
{
	struct world *w = ctx;
	w->samples++;
	buf_printf(out, "{\"number\":%d}", (int)w->samples);
	for (int i = 0; i < SAMPLE_BYTES_MAX && w->endless; i++)
		buf_putc(out, ' ');
}

static void on_acknowledged(void *ctx)
{
	struct world *w = ctx;
	w->acknowledged = w->samples;
}

static void begin(struct world *w)
{
	*w = (struct world){.loop = ev_loop_new(EVFLAG_AUTO)};
	w->api = scripted_server_new(w->loop);
	w->leader = scripted_server_new(w->loop);
	w->next = scripted_server_new(w->loop);
	w->config = config_for(scripted_server_url(w->api), NULL);
	w->dir = make_dir();
	write_file(w->dir, "token", "first-token\n", 0600);
	snprintf(w->token, sizeof(w->token), "%s/token", w->dir);
}

static void start(struct world *w)
{
	struct link_options o = {.loop = w->loop,
		.log = w->log,
		.api = w->config,
		.leader = {"sluice-system", w->token, .plain = true},
		.seed = 7,
		.pause_ms = 5,
		.events = {on_orders, on_sample, on_acknowledged, w}};
	w->link = link_new(&o);
}

static void end(struct world *w)
{
	run_until(w->loop, scripted_server_unused(w->api) + scripted_server_unused(w->leader) +
					   scripted_server_unused(w->next) ==
				   0);
	run_a_little(w->loop);
	assert_int_equal(scripted_server_unexpected(w->api), 0);
	assert_int_equal(scripted_server_unexpected(w->leader), 0);
	assert_int_equal(scripted_server_unexpected(w->next), 0);
	link_free(w->link);
	kube_config_free(w->config);
	scripted_server_free(w->api);
	scripted_server_free(w->leader);
	scripted_server_free(w->next);
	ev_loop_destroy(w->loop);
	remove_dir(w->dir);
}

/* Has the ConfigMap name a leader, once; held: when the script is released. A sample comes to each
 * leader at once. */
static struct script *name_leader_later(struct world *w, struct scripted_server *leader, bool held)
{
	char body[256];
	struct script *p = scripted_server_expect(w->api, CONFIGMAP);
	if (held)
		script_hold(p);
	snprintf(body, sizeof(body), "{\"data\":{\"address\":\"%s\",\"certificate\":\"PEM\"}}",
		scripted_server_url(leader) + strlen("http://"));
	script_answer(p, 200, "", body);
	/* What goes wrong then does so on a connection of its own: on a kept one libcurl asks again. */
	script_answer(scripted_server_expect(leader, SAMPLE), 204, "Connection: close\r\n", "");
	return p;
}

static void name_leader(struct world *w, struct scripted_server *leader)
{
	name_leader_later(w, leader, false);
}

static void answer_orders(struct scripted_server *s, const char *have, const char *body)
{
	char line[64];
	snprintf(line, sizeof(line), ORDERS "%s ", have);
	script_answer(scripted_server_expect(s, line), body[0] ? 200 : 204, "", body);
}

static struct script *hold_orders(struct scripted_server *s, const char *have)
{
	char line[64];
	snprintf(line, sizeof(line), ORDERS "%s ", have);
	struct script *p = scripted_server_expect(s, line);
	script_hold(p);
	return p;
}

static const struct scripted_request *newest(const struct scripted_server *s)
{
	return scripted_server_request(s, scripted_server_count(s) - 1);
}

/* ---- what goes well -------------------------------------------------------------------------- */

static void orders_and_samples(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	name_leader(&w, w.leader);
	answer_orders(w.leader, "0", "{\"generation\":17}");
	answer_orders(w.leader, "17", ""); /* nothing for 50 s */
	answer_orders(w.leader, "17", "{\"generation\":18}");
	hold_orders(w.leader, "18");
	start(&w);
	link_report(w.link, false); /* before there is a leader: it waits */
	run_until(w.loop, w.taken == 2 && w.acknowledged == 1);
	assert_int_equal(w.generations[0], 17);
	assert_int_equal(w.generations[1], 18);
	assert_string_equal(w.text, "{\"generation\":18}");
	script_answer(scripted_server_expect(w.leader, SAMPLE), 204, "", "");
	link_report(w.link, false);
	run_until(w.loop, w.acknowledged == 2);
	assert_string_equal(newest(w.leader)->body, "{\"number\":2}");
	assert_non_null(strstr(newest(w.leader)->head, "Authorization: Bearer first-token\r\n"));
	/* The token of the leader is not shown to the API server. */
	assert_null(strstr(newest(w.api)->head, "first-token"));
	assert_int_equal(scripted_server_connections(w.leader), 2);
	end(&w);
}

/* One sample at a time is under way; what waits is made at the last moment. */
static void samples_wait_for_their_turn(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	name_leader(&w, w.leader);
	answer_orders(w.leader, "0", "{\"generation\":1}");
	hold_orders(w.leader, "1");
	start(&w);
	run_until(w.loop, scripted_server_count(w.leader) == 3 && w.acknowledged == 1);
	struct script *held = scripted_server_expect(w.leader, SAMPLE);
	script_hold(held);
	script_answer(held, 204, "", "");
	script_answer(scripted_server_expect(w.leader, SAMPLE), 204, "", "");
	link_report(w.link, false);
	run_until(w.loop, scripted_server_count(w.leader) == 4);
	link_report(w.link, false);
	link_report(w.link, false);
	run_a_little(w.loop);
	assert_int_equal(w.samples, 2);
	script_release(held);
	run_until(w.loop, w.acknowledged == 3);
	assert_int_equal(w.samples, 3);
	/* What cannot wait goes out although the one before was not answered. */
	script_hold(scripted_server_expect(w.leader, SAMPLE));
	script_answer(scripted_server_expect(w.leader, SAMPLE), 204, "", "");
	link_report(w.link, false);
	run_until(w.loop, w.samples == 4 && scripted_server_count(w.leader) == 6);
	link_report(w.link, true);
	run_until(w.loop, w.acknowledged == 5);
	end(&w);
}

static void a_token_that_was_renewed_is_read(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	name_leader(&w, w.leader);
	struct script *p = scripted_server_expect(w.leader, ORDERS "0");
	script_hold(p);
	script_answer(p, 401, "", "");
	start(&w);
	run_until(w.loop, scripted_server_count(w.leader) == 2);
	write_file(w.dir, "token", "second-token\n", 0600);
	answer_orders(w.leader, "0", "{\"generation\":1}");
	hold_orders(w.leader, "1");
	script_release(p);
	run_until(w.loop, w.taken == 1);
	assert_non_null(
		strstr(scripted_server_request(w.leader, 2)->head, "Bearer second-token\r\n"));
	end(&w);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

/* Whatever a leader does instead of its work, the ConfigMap is asked, and another leader found. */
static void whatever_goes_wrong_leads_to_the_configmap(void **state)
{
	static const struct {
		const char *name;
		int status;
		const char *headers, *body, *raw; /* raw: in place of an answer, then a cut */
	} table[] = {
		{"not the leader", 503, "", "", NULL},
		{"not the leader, with a time", 503, "Retry-After: 0\r\n", "", NULL},
		{"no known token", 401, "", "", NULL},
		{"token of another", 403, "", "", NULL},
		{"no such path", 404, "", "", NULL},
		{"broken", 500, "", "", NULL},
		{"no JSON", 200, "", "{\"generation\":", NULL},
		{"no orders", 200, "", "{}", NULL},
		{"orders that lie", 200, "", "{\"generation\":5,\"pods\":[{\"uid\":\"x\"}]}", NULL},
		{"a cut", 0, "", "", ""},
		{"half a head", 0, "", "", "HTTP/1.1 200 OK\r\nContent-"},
		{"half an answer", 0, "", "",
			"HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n{\"generation\":5"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(table); i++) {
		struct world w;
		begin(&w);
		name_leader(&w, w.leader);
		name_leader(&w, w.next);
		script_answer(scripted_server_expect(w.leader, ORDERS "0 "), 200,
			"Connection: close\r\n", "{\"generation\":4}");
		struct script *p = scripted_server_expect(w.leader, ORDERS "4 ");
		if (table[i].raw) {
			script_raw(p, table[i].raw);
			script_cut(p);
		} else {
			script_answer(p, table[i].status, table[i].headers, table[i].body);
		}
		answer_orders(w.next, "4", "{\"generation\":9}");
		hold_orders(w.next, "9");
		start(&w);
		run_until(w.loop, w.taken == 2);
		assert_int_equal(w.generations[0], 4);
		assert_int_equal(w.generations[1], 9);
		end(&w);
	}
}

static void orders_that_are_too_large(void **state)
{
	struct world w;
	struct buf body;
	(void)state;
	begin(&w);
	name_leader(&w, w.leader);
	name_leader(&w, w.leader);
	buf_init(&body, 1 << 20);
	buf_puts(&body, "{\"generation\":5,\"x\":\"");
	while (body.len < ORDERS_BYTES_MAX - 1)
		buf_putc(&body, 'x');
	buf_puts(&body, "\"}");
	answer_orders(w.leader, "0", buf_text(&body));
	answer_orders(w.leader, "0", "{\"generation\":6}");
	hold_orders(w.leader, "6");
	start(&w);
	run_until(w.loop, w.taken == 1);
	assert_int_equal(w.generations[0], 6);
	buf_done(&body);
	end(&w);
}

/* The ConfigMap itself: absent, empty, wrong, forbidden; it is asked until it names a leader. */
static void a_configmap_that_names_no_leader(void **state)
{
	static const struct {
		int status;
		const char *body;
	} table[] = {
		{404, ""},
		{403, ""},
		{500, ""},
		{200, "{"},
		{200, "{}"},
		{200, "{\"data\":{}}"},
		{200, "{\"data\":{\"address\":\"\",\"certificate\":\"\"}}"},
		{200, "{\"data\":{\"address\":\"leader.example:8444\",\"certificate\":\"PEM\"}}"},
		{200, "{\"data\":{\"address\":\"10.1.2.3\",\"certificate\":\"PEM\"}}"},
		{200, "{\"data\":{\"address\":[1],\"certificate\":\"PEM\"}}"},
	};
	struct world w;
	(void)state;
	begin(&w);
	for (size_t i = 0; i < ROWS(table); i++)
		script_answer(scripted_server_expect(w.api, CONFIGMAP), table[i].status, "",
			table[i].body);
	name_leader(&w, w.leader);
	answer_orders(w.leader, "0", "{\"generation\":1}");
	hold_orders(w.leader, "1");
	start(&w);
	run_until(w.loop, w.taken == 1);
	end(&w);
}

/* A sample that is refused for what it says is not sent again; a leader that fails at it is left. */
static void samples_that_are_refused(void **state)
{
	static const int dropped[] = {400, 413, 422};
	struct world w;
	(void)state;
	begin(&w);
	name_leader(&w, w.leader);
	answer_orders(w.leader, "0", "{\"generation\":1}");
	struct script *held = hold_orders(w.leader, "1");
	start(&w);
	run_until(w.loop, scripted_server_count(w.leader) == 3 && w.acknowledged == 1);
	for (size_t i = 0; i < ROWS(dropped); i++) {
		script_answer(scripted_server_expect(w.leader, SAMPLE), dropped[i], "", "");
		link_report(w.link, false);
		run_until(w.loop, w.acknowledged == w.samples && w.samples == (int64_t)i + 2);
	}
	script_answer(scripted_server_expect(w.leader, SAMPLE), 429, "", "");
	link_report(w.link, false);
	size_t before = scripted_server_count(w.leader);
	run_until(w.loop, scripted_server_count(w.leader) == before + 1);
	run_a_little(w.loop);
	assert_int_equal(w.acknowledged, 4); /* not known there, and told once more in the next */
	/* The leader leads no more: what it still holds is of no account. */
	script_answer(scripted_server_expect(w.leader, SAMPLE), 503, "", "");
	name_leader(&w, w.leader);
	hold_orders(w.leader, "1");
	link_report(w.link, false);
	run_until(w.loop, scripted_server_count(w.api) == 2);
	script_answer(held, 200, "", "{\"generation\":77}");
	script_release(held);
	run_until(w.loop, scripted_server_unused(w.leader) == 0);
	run_a_little(w.loop);
	assert_int_equal(w.taken, 1);
	end(&w);
}

/* A leader that has too much to do says when to come again: no sample goes before, and one does then,
 * although no other is due. */
static void a_sample_that_is_to_come_later(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	name_leader(&w, w.leader);
	answer_orders(w.leader, "0", "{\"generation\":1}");
	hold_orders(w.leader, "1");
	start(&w);
	run_until(w.loop, scripted_server_count(w.leader) == 3 && w.acknowledged == 1);
	script_answer(scripted_server_expect(w.leader, SAMPLE), 429, "Retry-After: 2\r\n", "");
	script_answer(scripted_server_expect(w.leader, SAMPLE), 204, "", "");
	double began = ev_time();
	link_report(w.link, false);
	run_until(w.loop, scripted_server_count(w.leader) == 4);
	link_report(w.link, false);
	run_until(w.loop, w.acknowledged == 3);
	assert_true(ev_time() - began >= 1.9);
	assert_int_equal(w.samples, 3);
	end(&w);
}

/* No sample is so long; one that is all the same is said, and the next one goes. */
static void a_sample_that_is_too_long(void **state)
{
	struct world w;
	char said[4096] = "";
	FILE *file = tmpfile();
	(void)state;
	begin(&w);
	w.log = log_new(fileno(file), LOG_TEXT, LEVEL_INFO);
	name_leader(&w, w.leader);
	answer_orders(w.leader, "0", "{\"generation\":1}");
	hold_orders(w.leader, "1");
	start(&w);
	run_until(w.loop, scripted_server_count(w.leader) == 3 && w.acknowledged == 1);
	w.endless = true;
	link_report(w.link, false);
	w.endless = false;
	script_answer(scripted_server_expect(w.leader, SAMPLE), 204, "", "");
	link_report(w.link, false);
	run_until(w.loop, w.acknowledged == 3);
	assert_true(pread(fileno(file), said, sizeof(said) - 1, 0) > 0);
	assert_non_null(strstr(said, "sample too long"));
	end(&w);
	log_free(w.log);
	fclose(file);
}

/* A leader that gives the same orders again and again, at once, is not asked as fast as it goes. */
static void the_same_orders_again(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	name_leader(&w, w.leader);
	answer_orders(w.leader, "0", "{\"generation\":1}");
	for (int i = 0; i < 5; i++)
		answer_orders(w.leader, "1", "{\"generation\":1}");
	hold_orders(w.leader, "1");
	start(&w);
	double began = ev_time();
	run_until(w.loop, scripted_server_count(w.leader) == 8);
	assert_true(ev_time() - began >= 0.020); /* four pauses at least */
	assert_int_equal(w.taken, 1);
	end(&w);
}

static void a_token_that_is_not_there(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	assert_int_equal(unlink(w.token), 0);
	name_leader(&w, w.leader);
	struct script *again = name_leader_later(&w, w.leader, true);
	start(&w);
	run_until(w.loop, scripted_server_count(w.api) == 2);
	write_file(w.dir, "token", "a\n", 0600);
	answer_orders(w.leader, "0", "{\"generation\":1}");
	hold_orders(w.leader, "1");
	script_release(again);
	run_until(w.loop, w.taken == 1 && w.acknowledged > 0);
	link_report(w.link, false); /* in place of the one that could not be sent */
	end(&w);
}

static void addresses(void **state)
{
	static const struct {
		const char *text;
		bool is;
	} table[] = {
		{"10.1.2.3:8444", true},
		{"[fd00::5]:8444", true},
		{"127.0.0.1:1", true},
		{"10.1.2.3", false},
		{"10.1.2.3:0", false},
		{"10.1.2.3:65536", false},
		{"10.1.2.3:8444/x", false},
		{"10.1.2.3:84 44", false},
		{"host:8444", false},
		{"fd00::5:8444", false},
		{"[fd00::5]", false},
		{"[10.1.2.3]:8444", false},
		{"a@10.1.2.3:8444", false},
		{":8444", false},
		{"[]:8444", false},
		{"", false},
		{"10.1.2.310.1.2.310.1.2.310.1.2.310.1.2.310.1.2.310.1.2.310.1.2.3:8444", false},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(table); i++)
		if (leader_is_address(table[i].text) != table[i].is)
			fail_msg("%s", table[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_and_samples),
		cmocka_unit_test(samples_wait_for_their_turn),
		cmocka_unit_test(a_token_that_was_renewed_is_read),
		cmocka_unit_test(whatever_goes_wrong_leads_to_the_configmap),
		cmocka_unit_test(orders_that_are_too_large),
		cmocka_unit_test(a_configmap_that_names_no_leader),
		cmocka_unit_test(samples_that_are_refused),
		cmocka_unit_test(a_sample_that_is_to_come_later),
		cmocka_unit_test(a_sample_that_is_too_long),
		cmocka_unit_test(the_same_orders_again),
		cmocka_unit_test(a_token_that_is_not_there),
		cmocka_unit_test(addresses),
	};
	return cmocka_run_group_tests_name("agent/link", tests, NULL, NULL);
}
