#include "controller/kube/frames.h"

#include <string.h>

#include "base/err.h"

enum { KEEP_ROOM = 1024 * 1024 }; /* a buffer that had to grow beyond this is given back */

void frames_init(struct frames *f, size_t line_ceiling)
{
	*f = (struct frames){0};
	buf_init(&f->partial, line_ceiling);
}

void frames_done(struct frames *f)
{
	buf_done(&f->partial);
	f->handed_out = f->skipping = false;
}

static void drop_partial(struct frames *f)
{
	if (f->partial.room > KEEP_ROOM)
		buf_done(&f->partial);
	buf_reset(&f->partial);
	f->handed_out = false;
}

void frames_reset(struct frames *f)
{
	drop_partial(f);
	f->skipping = false;
}

/* Takes one line's bytes, up to its newline or the end of the chunk, off the front of *bytes. */
static struct slice take_line(struct slice *bytes, bool *ret_whole)
{
	const char *newline = memchr(bytes->ptr, '\n', bytes->len);
	struct slice line = {bytes->ptr, newline ? (size_t)(newline - bytes->ptr) : bytes->len};
	size_t taken = line.len + (newline ? 1 : 0);
	bytes->ptr += taken;
	bytes->len -= taken;
	*ret_whole = newline != NULL;
	return line;
}

/* Gives the first bytes of the line that begins in partial and goes on with more. */
static struct slice beginning(struct frames *f, struct slice more)
{
	size_t size = f->partial.ceiling < FRAMES_BEGINNING ? f->partial.ceiling : FRAMES_BEGINNING;
	if (f->partial.len < size)
		buf_add(&f->partial, more.ptr, size - f->partial.len);
	f->handed_out = true;
	return (struct slice){buf_text(&f->partial), size};
}

int frames_next(struct frames *f, struct slice *bytes, struct slice *ret_line)
{
	if (f->handed_out)
		drop_partial(f);
	while (bytes->len > 0) {
		bool whole, skipped = f->skipping;
		struct slice line = take_line(bytes, &whole);
		if (skipped) {
			f->skipping = !whole;
			continue;
		}
		if (line.len > f->partial.ceiling - f->partial.len) {
			*ret_line = beginning(f, line);
			f->skipping = !whole;
			return ERR_LIMIT;
		}
		if (whole && f->partial.len == 0 && line.len == 0)
			continue;
		if (whole && f->partial.len == 0) {
			*ret_line = line;
			return 1;
		}
		buf_add(&f->partial, line.ptr, line.len);
		if (whole) {
			f->handed_out = true;
			*ret_line = buf_slice(&f->partial);
			return 1;
		}
	}
	return 0;
}

bool frames_cut(const struct frames *f)
{
	return f->skipping || (f->partial.len > 0 && !f->handed_out);
}
