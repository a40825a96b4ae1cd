/*
 * Bytes in any chunking go in, whole lines come out. A watch is one JSON document a line.
 *
 * A line that lies whole inside one chunk is handed out in place; only what crosses chunks is
 * copied. Each byte is looked at once, so a line of 16 MiB in 1,000 chunks costs no more than in
 * one. What has no newline yet when the connection ends is never handed out: it is half an event.
 *
 * A line over the ceiling costs itself alone: its beginning is handed out, for its name, the rest
 * is skipped to its newline and not stored, and the line after it comes as any other.
 */
#ifndef SLUICE_CONTROLLER_KUBE_FRAMES_H
#define SLUICE_CONTROLLER_KUBE_FRAMES_H

#include "base/buf.h"
#include "base/slice.h"

enum { FRAMES_BEGINNING = 64 * 1024 }; /* at most so much of a line over the ceiling */

struct frames {
	struct buf partial; /* the line whose end has not come yet */
	bool handed_out;    /* partial was given as a line and is emptied at the next call */
	bool skipping;	    /* within a line over the ceiling */
};

void frames_init(struct frames *f, size_t line_ceiling);
void frames_done(struct frames *f);
void frames_reset(struct frames *f); /* a new connection: half a line of the old one is dropped */

/* Takes from the front of *bytes. Returns 1 and a line (without its newline, never empty, valid
 * until the next call or until the chunk goes), 0 when all bytes are taken, ERR_LIMIT and the
 * beginning of a line that is over the ceiling: the same bytes in any chunking. Call it until it
 * returns 0.
 *
 *	struct slice rest = chunk, line;
 *	while ((rc = frames_next(&f, &rest, &line)) != 0)
 *		...
 */
int frames_next(struct frames *f, struct slice *bytes, struct slice *ret_line);

/* Half a line is waiting, or being skipped: the connection, ending now, would cut an event. */
bool frames_cut(const struct frames *f);

#endif
