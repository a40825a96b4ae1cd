/*
 * The packer: makes gzips of large answers on the loop, a slice at a time.
 *
 * Reports of many queues or nodes, and what the ledger answers, are made on the loop, and may have
 * some 100 KiB. Packing all of it at once would take the loop some milliseconds. So texts are packed
 * one after the other, PACKER_SLICE_BYTES (half a millisecond) every PACKER_PAUSE: a tenth of the
 * loop at most, however many ask, and 200 KiB take 20 ms. Where PACKER_MAX_BYTES wait, more are
 * sent as they are.
 *
 * First come, first served, whoever asks: a gzip under way has 256 KiB and as much as its text
 * besides, so there is one at a time. Who comes last waits for PACKER_MAX_BYTES at most, 2.6 s where
 * all texts are just too long for one slice. What the reader makes is packed there.
 */
#ifndef SLUICE_CONTROLLER_NET_PACKER_H
#define SLUICE_CONTROLLER_NET_PACKER_H

#include <stdbool.h>

#include "base/buf.h"

struct ev_loop;
struct packer;
struct packing;

#define PACKER_PAUSE 0.005 /* seconds */
enum { PACKER_SLICE_BYTES = 64 << 10, PACKER_MAX_BYTES = 16 << 20 };

struct packer *packer_new(struct ev_loop *loop);
void packer_free(struct packer *p); /* when no packing is left */

/* Whether so many bytes more may wait. */
bool packer_has_room(const struct packer *p, size_t bytes);
/* Replaces body by its gzip, or leaves it where that is no shorter. body stays where it is, and is
 * not touched by others, until done is called, once, from the loop; the packing is no more then.
 * tag: as of coding_pack_new(). */
struct packing *packer_add(
	struct packer *p, struct buf *body, const char *tag, void (*done)(void *ctx), void *ctx);
/* Forgets it before it is done. */
void packing_drop(struct packing *g);

#endif
