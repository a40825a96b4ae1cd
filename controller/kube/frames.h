/*
 * Bytes in any chunking go in, whole lines come out. A watch is one JSON document a line.
 *
 * A line that lies whole inside one chunk is handed out in place; only what crosses chunks is
 * copied. Each byte is looked at once, so a line of 16 MiB in 1,000 chunks costs no more than in
 * one. What has no newline yet when the connection ends is never handed out: it is half an event.
 */
#ifndef SLUICE_KUBE_FRAMES_H
#define SLUICE_KUBE_FRAMES_H

#include "base/buf.h"
#include "base/slice.h"

struct frames {
	struct buf partial; /* the line whose end has not come yet */
	bool handed_out;    /* partial was given as a line and is emptied at the next call */
};

void frames_init(struct frames *f, size_t line_ceiling);
void frames_done(struct frames *f);
void frames_reset(struct frames *f); /* a new connection: half a line of the old one is dropped */

/* Takes from the front of *bytes. Returns 1 and a line (without its newline, never empty, valid
 * until the next call or until the chunk goes), 0 when all bytes are taken, ERR_LIMIT when the line
 * is over the ceiling; after that only frames_reset helps.
 *
 *	struct slice rest = chunk, line;
 *	while ((rc = frames_next(&f, &rest, &line)) > 0)
 *		...
 */
int frames_next(struct frames *f, struct slice *bytes, struct slice *ret_line);

/* Half a line is waiting: the connection, ending now, would cut an event. */
bool frames_cut(const struct frames *f);

#endif
