/* Scale-down: a run that is to go on with fewer pods. */
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
	int32_t to;	    /* so many pods are wanted; 0: all */
	bool told;	    /* the Job is so small and that was told; the reservation is larger */
	const char *reason; /* one word, static */
	char *why;	    /* a sentence, or NULL */
	struct decision decided; /* that wants it, without its texts; of kind START: none */
	int32_t parallelism;	 /* spec.parallelism of this run when last looked at; 0: never */
	bool held_once;	  /* scale_down_to_hold() was, in this attempt and under this leader */
	int64_t since_ms; /* since when surplus pods may be left, by tick_ms; 0: none are */
};

/* Begins a run, with so many pods at most; ends it. */
void scale_down_begin(struct gate *g, struct gate_job *j, int32_t pods);
void scale_down_end(struct gate_job *j);
void scale_down_decided(struct gate *g, struct gate_job *j, const struct decision *d);
/* Asks for the PATCH that is due of a run that is not to stop. False: none is. */
bool scale_down_see_to(struct gate *g, struct gate_job *j);
/* Wants as many pods as are reserved, if its manifest was applied again. False: it was not, or
 * fewer cannot be had. */
bool scale_down_again(struct gate *g, struct gate_job *j);
/* Wants as many pods as are reserved, for a Job that was let have more. False: fewer cannot be had,
 * or were wanted once: a store goes back under a new leader only. */
bool scale_down_to_hold(struct gate *g, struct gate_job *j);
/* INTENT_SHRINK. */
bool scale_down_wanted(const struct gate *g, const struct gate_job *j);
void scale_down_tell(const struct gate_job *j, struct intent *i);
/* Says that the Job may have had so many pods a moment ago: that many may be left. */
void scale_down_may_have(struct gate_job *j, int32_t pods);
/* Stops a run that cannot be told to have fewer pods. For a smaller quota alone it keeps its
 * pods. */
void scale_down_fails(struct gate *g, struct gate_job *j);
/* Tells whether there may be more pods than the status says: the reservation then stays. */
bool scale_down_in_doubt(struct gate *g, struct gate_job *j);
/* Takes another version of the Job; some_left: some pods left before while others stayed. */
void scale_down_seen(struct gate *g, struct gate_job *j, bool some_left);
/* Takes a count of its pods. Returns how many the reservation must be for. */
int32_t scale_down_counted(struct gate *g, struct gate_job *j, size_t pods);

#endif
