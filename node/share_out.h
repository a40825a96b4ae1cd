/*
 * Shares: divides what lent pods may have together among them, max-min fair by what they ask for.
 *
 * Where all that they ask for fits, each has just that. Else the demand of a pod is what it asks
 * for, if it was throttled or used 90 % of its quota; and 1.25 times its use and 50 milli
 * otherwise. Demands are met max-min fair by weights (what pods ask for); what is left goes to pods
 * below what they ask for, by the same weights.
 *
 * Always true: no pod has more than it asks for, none less than 2 % of it or 10 milli (a thread
 * that holds a kernel lock must come to its end); the sum is at most `may`, but for these least
 * amounts; and the same pods in another order get the same.
 *
 * Integers. The level of the water is searched for bit by bit: O(n) for each of 40, and a sort.
 */
#ifndef SLUICE_NODE_SHARE_OUT_H
#define SLUICE_NODE_SHARE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"

enum { SHARE_LEAST_PERCENT = 2, SHARE_LEAST_MILLI = 10 };

struct share {		   /* thousandths of a core */
	struct uid uid;	   /* breaks ties */
	int64_t asked;	   /* 0: no cpu was asked for, and no share is made: quota stays -1 */
	int64_t used;	   /* -1: not known; its demand is what it asks for */
	int64_t quota;	   /* now; -1: none */
	bool throttled;	   /* in the last tick */
	int64_t ret_milli; /* what it gets; -1: no quota */
};

/* Sets ret_milli of each. may_milli -1: nothing is divided, each has what it asks for. */
void share_out(struct share *shares, size_t n, int64_t may_milli);

#endif
