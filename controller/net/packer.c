#include "controller/net/packer.h"

#include <ev.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/must.h"
#include "controller/net/coding.h"

struct packer {
	struct ev_loop *loop;
	ev_timer timer;	      /* runs while there are any */
	struct link packings; /* the first of them is at work */
	size_t bytes;	      /* of all their texts */
};

struct packing {
	struct link link; /* packer.packings */
	struct packer *of;
	struct buf *body;
	size_t bytes;
	char tag[CODING_TAG_SIZE];
	struct coding_pack *pack; /* NULL: not begun */
	void (*done)(void *ctx);
	void *ctx;
};

static void leave(struct packing *g)
{
	struct packer *p = g->of;
	list_leave(&g->link);
	p->bytes -= g->bytes;
	if (list_empty(&p->packings))
		ev_timer_stop(p->loop, &p->timer);
}

static void on_timer(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct packer *p = w->data;
	struct packing *g = container_of(p->packings.next, struct packing, link);
	(void)loop, (void)revents;
	if (!g->pack)
		g->pack = coding_pack_new(buf_slice(g->body), g->tag);
	if (coding_pack_step(g->pack, PACKER_SLICE_BYTES))
		return;
	coding_pack_end(g->pack, g->body);
	leave(g);
	g->done(g->ctx);
	free(g);
}

struct packer *packer_new(struct ev_loop *loop)
{
	struct packer *p = mem_alloc(sizeof(*p));
	p->loop = loop;
	list_init(&p->packings);
	ev_timer_init(&p->timer, on_timer, 0., PACKER_PAUSE);
	p->timer.data = p;
	return p;
}

void packer_free(struct packer *p)
{
	must(list_empty(&p->packings));
	free(p);
}

bool packer_has_room(const struct packer *p, size_t bytes)
{
	return p->bytes + bytes <= PACKER_MAX_BYTES;
}

struct packing *packer_add(
	struct packer *p, struct buf *body, const char *tag, void (*done)(void *ctx), void *ctx)
{
	struct packing *g = mem_alloc(sizeof(*g));
	g->of = p;
	g->body = body;
	g->bytes = body->len;
	g->done = done;
	g->ctx = ctx;
	must(strlen(tag) < sizeof(g->tag));
	strcpy(g->tag, tag);
	list_add(&p->packings, &g->link);
	p->bytes += g->bytes;
	if (!ev_is_active(&p->timer))
		ev_timer_again(p->loop, &p->timer);
	return g;
}

void packing_drop(struct packing *g)
{
	if (g->pack)
		coding_pack_end(g->pack, NULL);
	leave(g);
	free(g);
}
