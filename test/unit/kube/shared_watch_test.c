#include "test.h"

#include "base/must.h"
#include "controller/kube/shared_watch.h"
#include "scripted_server.h"

/* What a seat is told, as text: "b" begin, "+name" ... as in kube_watch.c. */
struct listener {
	struct kube_subscriber *subscriber;
	struct buf story;
};

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct kube_shared_watch *share;
	struct listener first, second;
};

static void on_begin(void *ctx)
{
	buf_puts(&((struct listener *)ctx)->story, "b ");
}

static void on_event(enum kube_event type, const cJSON *object, void *ctx)
{
	static const char marks[] = "+~-";
	const char *name = json_text(json_object(object, "metadata"), "name");
	buf_printf(&((struct listener *)ctx)->story, "%c%s ", marks[type], name ? name : "?");
}

static void on_end(void *ctx)
{
	buf_puts(&((struct listener *)ctx)->story, "e ");
}

static void on_trouble(const char *sentence, void *ctx)
{
	must(*sentence);
	buf_puts(&((struct listener *)ctx)->story, "! ");
}

static void on_seen(const char *version, void *ctx)
{
	buf_printf(&((struct listener *)ctx)->story, "@%s ", version);
}

static void stage_open(struct stage *s)
{
	struct kube_watch_options o = {.path = "/things",
		.field_selector = "spec.nodeName!=",
		.backoff_ms = 1,
		.backoff_max_ms = 4};
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), "");
	s->client = kube_client_new(s->loop, s->config, NULL);
	s->share = kube_shared_watch_new(s->client, &o);
	buf_init(&s->first.story, 1 << 16);
	buf_init(&s->second.story, 1 << 16);
}

static void join(struct stage *s, struct listener *l)
{
	static const struct kube_watch_handler handler = {
		on_begin, on_event, on_end, on_trouble, NULL, on_seen};
	l->subscriber = kube_shared_watch_join(s->share, &handler, l);
}

static void leave(struct listener *l)
{
	kube_subscriber_leave(l->subscriber);
	l->subscriber = NULL;
}

static void stage_close(struct stage *s)
{
	leave(&s->first);
	leave(&s->second);
	kube_shared_watch_free(s->share);
	kube_client_free(s->client);
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->loop);
	buf_done(&s->first.story);
	buf_done(&s->second.story);
}

static void expect(struct stage *s, struct listener *l, const char *story)
{
	run_until(s->loop, l->story.len >= strlen(story));
	run_a_little(s->loop);
	assert_string_equal(buf_text(&l->story), story);
	buf_reset(&l->story);
}

#define OBJECT(name, rv) "{\"metadata\":{\"name\":\"" name "\",\"resourceVersion\":\"" rv "\"}}"
#define EVENT(type, name, rv) "{\"type\":\"" type "\",\"object\":" OBJECT(name, rv) "}\n"
#define END(rv)                                                                                    \
	"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"" rv               \
	"\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"

static struct script *list(struct stage *s, const char *events)
{
	struct script *p = scripted_server_expect(s->server, "sendInitialEvents=true");
	script_stream(p);
	script_chunk(p, events);
	script_hold(p);
	return p;
}

static void two_share_one_watch(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	struct script *p = list(&s, EVENT("ADDED", "a", "5") END("7"));
	script_chunk(p, EVENT("MODIFIED", "a", "8"));
	script_hold(p);
	join(&s, &s.first);
	join(&s, &s.second);
	expect(&s, &s.first, "b +a e @7 ");
	expect(&s, &s.second, "b +a e @7 ");
	script_release(p);
	expect(&s, &s.first, "~a @8 ");
	expect(&s, &s.second, "~a @8 ");
	assert_int_equal(scripted_server_count(s.server), 1);
	assert_non_null(strstr(
		scripted_server_request(s.server, 0)->line, "&fieldSelector=spec.nodeName%21%3D"));
	stage_close(&s);
}

/* It has missed the list: all are told another. */
static void who_comes_late_is_told_all(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	list(&s, EVENT("ADDED", "a", "5") END("7"));
	join(&s, &s.first);
	expect(&s, &s.first, "b +a e @7 ");
	list(&s, EVENT("ADDED", "b", "9") END("9"));
	join(&s, &s.second);
	expect(&s, &s.second, "b +b e @9 ");
	expect(&s, &s.first, "b +b e @9 ");
	stage_close(&s);
}

static void it_is_there_while_anybody_sits(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	struct script *p = list(&s, EVENT("ADDED", "a", "5") END("7"));
	script_chunk(p, EVENT("DELETED", "a", "8"));
	script_hold(p);
	join(&s, &s.first);
	join(&s, &s.second);
	expect(&s, &s.second, "b +a e @7 ");
	buf_reset(&s.first.story);
	leave(&s.first);
	script_release(p);
	expect(&s, &s.second, "-a @8 ");
	assert_string_equal(buf_text(&s.first.story), "");
	leave(&s.second);
	run_a_little(s.loop);
	kube_shared_watch_relist(s.share); /* of nobody */
	list(&s, EVENT("ADDED", "c", "11") END("12"));
	join(&s, &s.first);
	expect(&s, &s.first, "b +c e @12 ");
	stage_close(&s);
}

static void trouble_is_told_to_all(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	script_answer(scripted_server_expect(s.server, "sendInitialEvents"), 403, "", "{}");
	list(&s, END("7"));
	join(&s, &s.first);
	join(&s, &s.second);
	expect(&s, &s.first, "b ! b e @7 ");
	expect(&s, &s.second, "b ! b e @7 ");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_share_one_watch),
		cmocka_unit_test(who_comes_late_is_told_all),
		cmocka_unit_test(it_is_there_while_anybody_sits),
		cmocka_unit_test(trouble_is_told_to_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
