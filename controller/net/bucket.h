/*
 * Buckets: how much may be asked in a while. Time fills a bucket; each question takes from it.
 *
 * A table of buckets gives each of many (addresses, users) one of its own. It has so many places; a
 * newcomer takes the place of the one that asked longest ago, whose bucket is the fullest.
 */
#ifndef SLUICE_CONTROLLER_NET_BUCKET_H
#define SLUICE_CONTROLLER_NET_BUCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A bucket; zero: a full one, where the clock began long ago. */
struct bucket {
	uint64_t of;	  /* in a table: whose it is */
	int64_t empty_ms; /* when it was last empty, at the rate of bucket_take() */
};

/* Takes a question from a bucket that is filled by one each refill_ms, up to burst; false when it is
 * empty. now_ms is of a clock that only goes on. */
bool bucket_take(struct bucket *b, int64_t refill_ms, unsigned burst, int64_t now_ms);
/* Puts a question back that was taken in vain. */
void bucket_return(struct bucket *b, int64_t refill_ms);

/* Finds the bucket of one among n; a new one is full. */
struct bucket *bucket_of(struct bucket *each, size_t n, uint64_t of);

#endif
