#include "controller/kube/share.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

struct kube_seat {
	struct kube_share *share;
	struct kube_seat *next; /* in the order in which they were taken */
	struct kube_watch_handler handler;
	void *ctx;
};

struct kube_share {
	struct kube_client *client;
	struct kube_watch_options options;
	char *path, *label_selector, *field_selector;
	struct kube_watch *watch; /* NULL: nobody sits */
	struct kube_seat *seats;
	bool begun;   /* the watch has told something: who comes now has missed it */
	bool telling; /* within a callback of the watch */
};

struct kube_share *kube_share_new(
	struct kube_client *client, const struct kube_watch_options *options)
{
	struct kube_share *s = mem_alloc(sizeof(*s));
	s->client = client;
	s->options = *options;
	s->options.path = s->path = mem_strdup(options->path);
	s->options.label_selector = s->label_selector = mem_strdup(options->label_selector);
	s->options.field_selector = s->field_selector = mem_strdup(options->field_selector);
	return s;
}

void kube_share_free(struct kube_share *s)
{
	if (!s)
		return;
	must(!s->seats);
	free(s->path);
	free(s->label_selector);
	free(s->field_selector);
	free(s);
}

/* ---- what the watch says --------------------------------------------------------------------- */

#define TELL_EACH(share, seat)                                                                     \
	for (struct kube_seat *seat = (share)->seats; seat; seat = seat->next)

static void on_begin(void *ctx)
{
	struct kube_share *s = ctx;
	s->begun = s->telling = true;
	TELL_EACH(s, seat) seat->handler.begin(seat->ctx);
	s->telling = false;
}

static void on_event(enum kube_event type, const cJSON *object, void *ctx)
{
	struct kube_share *s = ctx;
	s->telling = true;
	TELL_EACH(s, seat) seat->handler.event(type, object, seat->ctx);
	s->telling = false;
}

static void on_end(void *ctx)
{
	struct kube_share *s = ctx;
	s->telling = true;
	TELL_EACH(s, seat) seat->handler.end(seat->ctx);
	s->telling = false;
}

static void on_trouble(const char *sentence, void *ctx)
{
	struct kube_share *s = ctx;
	s->telling = true;
	TELL_EACH(s, seat) seat->handler.trouble(sentence, seat->ctx);
	s->telling = false;
}

static void on_moved(const char *from, const char *to, void *ctx)
{
	struct kube_share *s = ctx;
	s->telling = true;
	TELL_EACH(s, seat)
	{
		if (seat->handler.moved)
			seat->handler.moved(from, to, seat->ctx);
	}
	s->telling = false;
}

static void on_seen(const char *version, void *ctx)
{
	struct kube_share *s = ctx;
	s->telling = true;
	TELL_EACH(s, seat)
	{
		if (seat->handler.seen)
			seat->handler.seen(version, seat->ctx);
	}
	s->telling = false;
}

static void on_unreadable(const struct kube_unreadable *u, void *ctx)
{
	struct kube_share *s = ctx;
	s->telling = true;
	TELL_EACH(s, seat)
	{
		if (seat->handler.unreadable)
			seat->handler.unreadable(u, seat->ctx);
	}
	s->telling = false;
}

/* ---- seats ----------------------------------------------------------------------------------- */

static void open_watch(struct kube_share *s)
{
	static const struct kube_watch_handler handler = {
		on_begin, on_event, on_end, on_trouble, on_moved, on_seen, on_unreadable};
	s->begun = false;
	s->watch = kube_watch_new(s->client, &s->options, &handler, s);
}

struct kube_seat *kube_share_join(
	struct kube_share *s, const struct kube_watch_handler *handler, void *ctx)
{
	struct kube_seat *seat = mem_alloc(sizeof(*seat)), **last = &s->seats;
	must(!s->telling);
	*seat = (struct kube_seat){.share = s, .handler = *handler, .ctx = ctx};
	while (*last)
		last = &(*last)->next;
	*last = seat;
	if (!s->watch)
		open_watch(s);
	else if (s->begun)
		kube_watch_relist(s->watch);
	return seat;
}

void kube_seat_leave(struct kube_seat *seat)
{
	if (!seat)
		return;
	struct kube_share *s = seat->share;
	struct kube_seat **at = &s->seats;
	must(!s->telling);
	while (*at != seat)
		at = &(*at)->next;
	*at = seat->next;
	free(seat);
	if (s->seats)
		return;
	kube_watch_free(s->watch);
	s->watch = NULL;
}

int64_t kube_share_stalled_ms(const struct kube_share *s)
{
	return s->watch ? kube_watch_stalled_ms(s->watch) : 0;
}

void kube_share_relist(struct kube_share *s)
{
	must(!s->telling);
	if (s->watch)
		kube_watch_relist(s->watch);
}
