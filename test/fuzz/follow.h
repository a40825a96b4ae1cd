/*
 * A watch that is told of healthy Jobs and, among them, of any bytes: whatever these are, it must
 * get on with the others. The API server is a stand-in for kube_client_*(), so that thousands of
 * inputs take seconds; link it in front of the library kube.
 *
 * Held to (must()): each healthy Job is told, in a streamed list, behind it, and in pages; the list
 * ends; no more is asked of the server than halving pages explains; and the same bytes mean the
 * same in any chunking.
 */
#ifndef SLUICE_TEST_FUZZ_FOLLOW_H
#define SLUICE_TEST_FUZZ_FOLLOW_H

#include "base/slice.h"

enum { FOLLOW_CEILING = 16 * 1024 }; /* of an event, and of a page */

/* victim: the text of an object, or what became of it. */
void follow_stream(struct slice victim, size_t chunk);
void follow_pages(struct slice victim);

/* The same with the victim as a whole line, which may also be what only the server says: then it
 * may begin a new list, which is healthy. */
void follow_line(struct slice line, size_t chunk);

#endif
