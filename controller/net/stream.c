#include "controller/net/stream.h"

#include <microhttpd.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"

enum {
	STREAM_MAX_BYTES = 4 << 20, /* the most that wait to be taken */
	BLOCK_BYTES = 16 << 10,
	STALL_SECONDS = 60,
};

struct http_stream {
	struct stream_options o;
	struct buf text;
	size_t taken; /* of text, by libmicrohttpd */
	bool sleeps;  /* the connection is suspended */
	bool ended;   /* by its owner; the rest is still sent */
	bool cut;     /* nothing is sent any more */
	bool drained; /* the owner is to be told */
	double moved; /* when something was taken last, or nothing was waiting */
};

/* ---- what is sent ---------------------------------------------------------------------------- */

size_t http_stream_waiting(const struct http_stream *s)
{
	return s->text.len - s->taken;
}

static ssize_t take(struct http_stream *s, char *to, size_t max)
{
	size_t left = http_stream_waiting(s), n = left < max ? left : max;
	memcpy(to, s->text.ptr + s->taken, n);
	s->taken += n;
	s->moved = 0.; /* stream_look() begins anew */
	if (n < left)
		return (ssize_t)n;
	buf_reset(&s->text);
	s->taken = 0;
	s->drained = true;
	s->o.drained(s->o.ctx);
	return (ssize_t)n;
}

/* Gives libmicrohttpd, which calls this with room for max bytes, what waits. */
static ssize_t on_room(void *cls, uint64_t position, char *to, size_t max)
{
	struct http_stream *s = cls;
	(void)position;
	if (s->cut)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (http_stream_waiting(s) > 0)
		return take(s, to, max);
	if (s->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	s->sleeps = true;
	MHD_suspend_connection(s->o.connection);
	return 0;
}

static void wake(struct http_stream *s)
{
	if (s->sleeps)
		MHD_resume_connection(s->o.connection);
	s->sleeps = false;
	s->o.wake(s->o.ctx);
}

static void cut(struct http_stream *s)
{
	s->cut = true;
	connection_end(s->o.place);
	wake(s);
}

/* ---- its owner ------------------------------------------------------------------------------- */

void http_stream_write(struct http_stream *s, struct slice text)
{
	must(!s->ended);
	if (s->cut)
		return;
	if (s->taken > 0)
		buf_consume(&s->text, s->taken);
	s->taken = 0;
	buf_add(&s->text, text.ptr, text.len);
	if (s->text.failed)
		cut(s);
	else
		wake(s);
}

void http_stream_end(struct http_stream *s)
{
	must(!s->ended);
	s->ended = true;
	connection_serves(s->o.place, true);
	wake(s);
}

void stream_tell_drained(struct http_stream *s)
{
	bool tell = s->drained && !s->ended && !s->cut;
	s->drained = false;
	if (tell && s->o.events.drained)
		s->o.events.drained(s->o.events.ctx);
}

void stream_look(struct http_stream *s, double now)
{
	if (s->cut)
		return;
	if (s->moved <= 0. || http_stream_waiting(s) == 0)
		s->moved = now;
	if (connection_is_gone(s->o.place) || now - s->moved >= STALL_SECONDS)
		cut(s);
}

/* ---- its life -------------------------------------------------------------------------------- */

struct http_stream *stream_new(const struct stream_options *o, double now)
{
	struct http_stream *s = mem_alloc(sizeof(*s));
	*s = (struct http_stream){.o = *o, .moved = now};
	buf_init(&s->text, STREAM_MAX_BYTES);
	connection_streams(o->place);
	/* libmicrohttpd's own idle time would end a stream whose client reads in fits and
	 * starts. */
	MHD_set_connection_option(o->connection, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
	return s;
}

const char *stream_content_type(const struct http_stream *s)
{
	return s->o.content_type;
}

struct MHD_Response *stream_response(struct http_stream *s)
{
	return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_room, s, NULL);
}

void stream_stop(struct http_stream *s)
{
	if (s->sleeps)
		MHD_resume_connection(s->o.connection);
	s->sleeps = false;
	s->cut = true;
}

void stream_free(struct http_stream *s)
{
	if (!s)
		return;
	if (!s->ended)
		s->o.events.closed(s->o.events.ctx);
	buf_done(&s->text);
	free(s);
}
