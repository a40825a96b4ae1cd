/* A run that is to go on with fewer pods. scale_down.c alone writes it. */
#ifndef SLUICE_CONTROLLER_GATE_SCALE_DOWN_H
#define SLUICE_CONTROLLER_GATE_SCALE_DOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/queue.h"

struct gate;
struct gate_job;
struct intent;

struct scale_down {
	int32_t to;		 /* so many; 0: with all */
	bool told;		 /* that it is so small; its reservation is not yet */
	const char *reason;	 /* one word, static */
	char *why;		 /* a sentence, or NULL */
	struct decision decided; /* that wants it, without its texts; of kind START: none */
	int32_t parallelism;	 /* spec.parallelism of this run when last looked at; 0: never */
	bool held_once;		 /* scale_down_to_hold(), of this attempt and under this leader */
	int64_t since_ms; /* since then, by tick_ms, pods too many may be left; 0: none are */
};

/* A run begins, with so many pods at most; and ends. */
void scale_down_begin(struct gate *g, struct gate_job *j, int32_t pods);
void scale_down_end(struct gate_job *j);
void scale_down_decided(struct gate *g, struct gate_job *j, const struct decision *d);
/* Of a Job that runs and is not to stop now: asks for the PATCH that is due. False: none is. */
bool scale_down_see_to(struct gate *g, struct gate_job *j);
/* Its owner's manifest was applied again: to as many pods as before. False: it was not. */
bool scale_down_again(struct gate *g, struct gate_job *j);
/* It was let have more pods than are reserved for it now: to as many as these. False: it cannot, or
 * was once before: a store that goes back does so to a new leader. */
bool scale_down_to_hold(struct gate *g, struct gate_job *j);
/* INTENT_SHRINK. */
bool scale_down_wanted(const struct gate *g, const struct gate_job *j);
void scale_down_tell(const struct gate_job *j, struct intent *i);
/* It may have been told to have so many pods a moment ago: those may be left, too. */
void scale_down_may_have(struct gate_job *j, int32_t pods);
/* It cannot be told to: it is to stop instead. But for a smaller quota alone it keeps its pods. */
void scale_down_fails(struct gate *g, struct gate_job *j);
/* May there be more pods than what is seen of it tells? Then its reservation stays as it is. */
bool scale_down_in_doubt(struct gate *g, struct gate_job *j);
/* Another version of the Job was seen; some_left: of the one before some pods left while others stayed. */
void scale_down_seen(struct gate *g, struct gate_job *j, bool some_left);
/* They were counted: how many the reservation must be for. */
int32_t scale_down_counted(struct gate *g, struct gate_job *j, size_t pods);

#endif
