/*
 * Arrivals: Jobs that are likely to come, which are those that came before.
 *
 * Some Jobs that come later start sooner: they are smaller, of a higher priority, or of a queue that
 * takes its quota back. A play without them tells times that are too early. Nobody knows what will
 * come, but what came on other days is known. So each day of a play gets the arrivals of one of the
 * last days again, hour for hour, drawn by the seed. They have the rates by hour, queue, priority,
 * size and family, and what goes together, as the forty Jobs of a sweep. While less than a day is
 * known, all that is known is repeated.
 *
 * While less than ARRIVALS_LEAST_MS is known, arrivals go on for a time that is drawn: what has
 * gone on for a minute may end at once or last all day. As likely as not it goes on for as long
 * again, and in one of ten draws for ARRIVALS_YOUNG_MOST times as long. Without arrivals a play
 * would be sure of the one thing that nobody knows: that none comes.
 *
 * A Job of a draw is new: uid and name are made up (the uids begin with eight bytes that no RFC
 * 4122 uid has), nothing waits for it, and the cluster's nodes are not asked about it.
 *
 * Memory: at most ARRIVALS_BYTES_MAX, the newest. A large placement is left out.
 */
#ifndef SLUICE_FORECAST_ARRIVALS_H
#define SLUICE_FORECAST_ARRIVALS_H

#include "sluice/job.h"

#define ARRIVALS_DAYS 7
/* The days of a play that have arrivals. In a queue that grows, a large Job may wait for ever, and
 * a play would go on to its horizon. */
#define ARRIVALS_COME_DAYS 2
/* The most Jobs that come in a play, each with a kilobyte or so. A user who made 20,000 Jobs in the
 * only hour that is known would come with a million, and no play would end. */
#define ARRIVALS_COME_MAX 100000
#define ARRIVALS_BYTES_MAX ((size_t)16 << 20)
#define ARRIVALS_LEAST_MS (INT64_C(3600) * 1000)
#define ARRIVALS_YOUNG_MOST 9

struct arrivals;

struct arrivals *arrivals_new(void);
void arrivals_free(struct arrivals *a);

/* Tells of a Job that came at at_ms, which never falls. Copies what it needs. */
void arrivals_tell(struct arrivals *a, const struct job *j, int64_t at_ms);

size_t arrivals_count(const struct arrivals *a); /* that are kept */
size_t arrivals_bytes(const struct arrivals *a);
/* Counts the Jobs that may come again in a draw; 0: the first came just now, or none after it. The
 * first one says only since when Jobs come, and is not repeated. Once a day is known, only whole
 * days are repeated. */
size_t arrivals_to_draw_from(const struct arrivals *a, int64_t now_ms);
/* Tells whether less than ARRIVALS_LEAST_MS is known, so that arrivals go on for a time that is
 * drawn. */
bool arrivals_are_young(const struct arrivals *a, int64_t now_ms);

/* The Jobs that come in one play. Borrows a, which must not change meanwhile. */
struct arrivals_draw;
struct arrivals_draw *arrivals_draw_new(const struct arrivals *a, uint64_t seed, int64_t now_ms);
void arrivals_draw_free(struct arrivals_draw *d);
/* Gives the next Job of a draw, for struct play_arrivals with the draw as ctx: by time, later than
 * now_ms, for at most ARRIVALS_COME_DAYS, and at most ARRIVALS_COME_MAX. */
bool arrivals_next(int64_t *ret_at_ms, const struct job **ret_job, void *draw);

#endif
