#include "controller/kube/shared_watch.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

struct kube_subscriber {
	struct kube_shared_watch *share;
	struct kube_subscriber *next; /* in the order in which they were taken */
	struct kube_watch_handler handler;
	void *ctx;
};

struct kube_shared_watch {
	struct kube_client *client;
	struct kube_watch_options options;
	char *path, *label_selector, *field_selector;
	struct kube_watch *watch; /* NULL: no subscriber, no watch */
	struct kube_subscriber *subscribers;
	bool begun;   /* the watch has told something: a new subscriber has missed it */
	bool telling; /* within a callback of the watch */
};

struct kube_shared_watch *kube_shared_watch_new(
	struct kube_client *client, const struct kube_watch_options *options)
{
	struct kube_shared_watch *s = mem_alloc(sizeof(*s));
	s->client = client;
	s->options = *options;
	s->options.path = s->path = mem_strdup(options->path);
	s->options.label_selector = s->label_selector = mem_strdup(options->label_selector);
	s->options.field_selector = s->field_selector = mem_strdup(options->field_selector);
	return s;
}

void kube_shared_watch_free(struct kube_shared_watch *s)
{
	if (!s)
		return;
	must(!s->subscribers);
	free(s->path);
	free(s->label_selector);
	free(s->field_selector);
	free(s);
}

/* ---- what the watch says --------------------------------------------------------------------- */

#define TELL_EACH(share, subscriber)                                                               \
	for (struct kube_subscriber *subscriber = (share)->subscribers; subscriber;                \
		subscriber = subscriber->next)

static void on_begin(void *ctx)
{
	struct kube_shared_watch *s = ctx;
	s->begun = s->telling = true;
	TELL_EACH(s, subscriber) subscriber->handler.begin(subscriber->ctx);
	s->telling = false;
}

static void on_event(enum kube_event type, const cJSON *object, void *ctx)
{
	struct kube_shared_watch *s = ctx;
	s->telling = true;
	TELL_EACH(s, subscriber) subscriber->handler.event(type, object, subscriber->ctx);
	s->telling = false;
}

static void on_end(void *ctx)
{
	struct kube_shared_watch *s = ctx;
	s->telling = true;
	TELL_EACH(s, subscriber) subscriber->handler.end(subscriber->ctx);
	s->telling = false;
}

static void on_trouble(const char *sentence, void *ctx)
{
	struct kube_shared_watch *s = ctx;
	s->telling = true;
	TELL_EACH(s, subscriber) subscriber->handler.trouble(sentence, subscriber->ctx);
	s->telling = false;
}

static void on_moved(const char *from, const char *to, void *ctx)
{
	struct kube_shared_watch *s = ctx;
	s->telling = true;
	TELL_EACH(s, subscriber)
	{
		if (subscriber->handler.moved)
			subscriber->handler.moved(from, to, subscriber->ctx);
	}
	s->telling = false;
}

static void on_seen(const char *version, void *ctx)
{
	struct kube_shared_watch *s = ctx;
	s->telling = true;
	TELL_EACH(s, subscriber)
	{
		if (subscriber->handler.seen)
			subscriber->handler.seen(version, subscriber->ctx);
	}
	s->telling = false;
}

static void on_unreadable(const struct kube_unreadable *u, void *ctx)
{
	struct kube_shared_watch *s = ctx;
	s->telling = true;
	TELL_EACH(s, subscriber)
	{
		if (subscriber->handler.unreadable)
			subscriber->handler.unreadable(u, subscriber->ctx);
	}
	s->telling = false;
}

/* ---- subscribers ----------------------------------------------------------------------------- */

static void open_watch(struct kube_shared_watch *s)
{
	static const struct kube_watch_handler handler = {
		on_begin, on_event, on_end, on_trouble, on_moved, on_seen, on_unreadable};
	s->begun = false;
	s->watch = kube_watch_new(s->client, &s->options, &handler, s);
}

struct kube_subscriber *kube_shared_watch_join(
	struct kube_shared_watch *s, const struct kube_watch_handler *handler, void *ctx)
{
	struct kube_subscriber *subscriber = mem_alloc(sizeof(*subscriber)),
			       **last = &s->subscribers;
	must(!s->telling);
	*subscriber = (struct kube_subscriber){.share = s, .handler = *handler, .ctx = ctx};
	while (*last)
		last = &(*last)->next;
	*last = subscriber;
	if (!s->watch)
		open_watch(s);
	else if (s->begun)
		kube_watch_relist(s->watch);
	return subscriber;
}

void kube_subscriber_leave(struct kube_subscriber *subscriber)
{
	if (!subscriber)
		return;
	struct kube_shared_watch *s = subscriber->share;
	struct kube_subscriber **at = &s->subscribers;
	must(!s->telling);
	while (*at != subscriber)
		at = &(*at)->next;
	*at = subscriber->next;
	free(subscriber);
	if (s->subscribers)
		return;
	kube_watch_free(s->watch);
	s->watch = NULL;
}

int64_t kube_shared_watch_stalled_ms(const struct kube_shared_watch *s)
{
	return s->watch ? kube_watch_stalled_ms(s->watch) : 0;
}

void kube_shared_watch_relist(struct kube_shared_watch *s)
{
	must(!s->telling);
	if (s->watch)
		kube_watch_relist(s->watch);
}
