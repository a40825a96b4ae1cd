/*
 * Bytes in any chunking go in, whole lines come out. A watch is one JSON document a line.
 *
 * A line that lies whole inside one chunk is handed out in place; only what crosses chunks is
 * copied. Each byte is looked at once, so a line of 16 MiB in 1,000 chunks costs no more than in
 * one. A line without its newline when the connection ends is never handed out: it is half an
 * event.
 *
 * A line over the ceiling costs itself alone. Its beginning is handed out, for its name; the rest
 * is skipped to its newline and not stored. The next line comes as any other.
 */
#ifndef SLUICE_CONTROLLER_KUBE_FRAMES_H
#define SLUICE_CONTROLLER_KUBE_FRAMES_H

#include "base/buf.h"
#include "base/slice.h"

enum { FRAMES_BEGINNING = 64 * 1024 }; /* the most of a line over the ceiling that is handed out */

struct frames {
	struct buf partial; /* the line whose end has not come yet */
	bool handed_out;    /* partial was given as a line and is emptied at the next call */
	bool skipping;	    /* within a line over the ceiling */
};

void frames_init(struct frames *f, size_t line_ceiling);
void frames_done(struct frames *f);
void frames_reset(struct frames *f); /* a new connection: half a line of the old one is dropped */

/*
 * Takes the next line from the front of *bytes. Call it until it returns 0:
 *
 *   1          a line, never empty, without its newline; valid until the next call, in its chunk
 *   0          all bytes are taken
 *   ERR_LIMIT  the beginning of a line over the ceiling: the same bytes in any chunking
 *
 * 	struct slice rest = chunk, line;
 * 	while ((rc = frames_next(&f, &rest, &line)) != 0)
 * 		...
 */
int frames_next(struct frames *f, struct slice *bytes, struct slice *ret_line);

/* Whether half a line waits or is being skipped: a connection that ends now cuts an event. */
bool frames_cut(const struct frames *f);

#endif
