/*
 * Selectors: items of sluice.dev/after that wait for all names with some labels.
 *
 * A selector counts the names that it takes by the outcome of their newest Job, so that what it says
 * to an item costs nothing, however many it takes. It remembers what it said last: followers are
 * looked at only when that changes. Each name knows its place in the list of each selector that takes
 * it, so that it comes and goes at once.
 */
#ifndef SLUICE_QUEUE_FEATURES_DEPENDENCIES_SELECTORS_H
#define SLUICE_QUEUE_FEATURES_DEPENDENCIES_SELECTORS_H

#include "queue/features/dependencies/predecessors.h"

struct queue;
struct workload;

/* for (each selector of a set of bits). */
#define each_selector(ns, bits, s)                                                                 \
	for (uint64_t left_ = (bits); left_; left_ &= left_ - 1)                                   \
		for (struct predecessor_selector *s = (ns)->selector[__builtin_ctzll(left_)]; s;   \
			s = NULL)

/* Returns the selectors of the namespace that take this Job, a bit each. */
uint64_t selectors_taking(const struct predecessor_namespace *ns, const struct predecessor *p);
/* Before and after another Job of the name is the newest, or has another outcome. bits: those that
 * take it; where there is no place left, it is not taken. */
void selectors_count_out(struct predecessor_name *n);
void selectors_count_in(struct queue *q, struct predecessor_name *n, uint64_t bits);
/* Takes a name that is counted out already off the selector. */
void selector_let_go(struct queue *q, struct predecessor_selector *s, struct predecessor_name *n);

/* own: selector_own() of the Job that waits. */
enum dependency_verdict selector_verdict(
	const struct predecessor_selector *s, enum dependency_kind k, enum outcome own);
/* All verdicts that a follower may have of it, two bits each. SELECTOR_UNTOLD is none of them. */
#define SELECTOR_UNTOLD UINT64_MAX
uint64_t selector_verdicts(const struct predecessor_selector *s);
/* Returns whether some follower holds by the verdicts now that did not before. */
bool selector_verdicts_turn(uint64_t before, uint64_t now);

/* A selector does not mean the Job that waits for it. The outcome with which it is counted all the
 * same; OUTCOME_NONE: it is not taken. */
enum outcome selector_own(const struct predecessor_selector *s, const struct workload *w);

/* A name that it takes of which the newest Job has an outcome by which items of that kind hold no
 * more; NULL: there is none. */
const struct predecessor_name *selector_culprit(
	const struct predecessor_selector *s, enum dependency_kind k);

#endif
