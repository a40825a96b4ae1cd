/*
 * What is posted: the body of a request, at a port that takes any (http_options.posts).
 *
 * One path of a port takes POST, and nothing else; all others take GET and HEAD, without a body. A
 * body says its length before it comes (Content-Length), so that a long one is refused unread. It is
 * read once its sender is known and may ask, and bodies that are on their way at a port take so much
 * memory at most (POSTED_MAX_BYTES). For one more the largest are given up, with their connections;
 * of those that are alike, the one that is awaited longest. None is given up for a larger one.
 */
#ifndef SLUICE_CONTROLLER_NET_POSTED_H
#define SLUICE_CONTROLLER_NET_POSTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct MHD_Connection;

struct posts {
	const char *path;  /* static; NULL: no path of the port takes POST */
	size_t most_bytes; /* of a body */
};

enum { POSTED_MAX_BYTES = 16 << 20 };

struct posted {
	bool takes_post; /* the path does */
	size_t length;	 /* of the body, as it was said; 0: none */
	struct buf body; /* so far */
};

/* Looks at the head of a request. Returns the status of one that the port does not take, with a
 * sentence; 0: it is a question, and the body, of ret->length bytes, may come. */
unsigned posted_begin(struct posted *ret, const struct posts *p, struct MHD_Connection *c,
	const char *path, const char *method, const char **ret_sentence);
void posted_done(struct posted *b);

/* Whether a body follows the head of a request. */
bool posted_has_body(struct MHD_Connection *c);
/* Adds what came of the body. */
void posted_add(struct posted *b, const char *data, size_t size);
bool posted_is_whole(const struct posted *b);

#endif
