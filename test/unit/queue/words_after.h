/*
 * Words about Jobs that others wait for (sluice.dev/after); read by words.c.
 *
 *   job .. [after=ITEMS] [on-failure=Wait|Hold|Delete]
 *                                    ITEMS as in the annotation: afterok:prep,singleton; a selector
 *                                    has one label: afterok:{batch=tuesday}
 *   became NS/NAME waits|started|succeeded|failed ["WHY"] [at=CREATED] [ended=S] [done=N/M] [uid=N]
 *                 [label=K:V] [unseen]
 *                                    a Job, of this queue or of none, as it is now. Unseen: no event
 *                                    tells of it. What is not said is as it was
 *   gone NS/NAME [unseen]            it was deleted
 *   forget NS/NAME                   ... and neither API server nor ledger know of it any more
 *   questions stay|answered          from now on: nobody answers the queue's questions; or, as at
 *                                    first, all are answered before each pass
 *
 * A Job that is told by "job" waits, and one that a pass starts was started: its followers are told
 * of both. One of the queue that ended gives back what it held.
 *
 *   expect: asks N                   so many questions were answered before the last pass
 */
#ifndef SLUICE_TEST_QUEUE_WORDS_AFTER_H
#define SLUICE_TEST_QUEUE_WORDS_AFTER_H

#include "words.h"

/* The annotations of a Job; false: the word is none of them. The items live as long as pieces. */
bool words_after_of_job(struct job *j, const char *word, char *value);
/* *ret_known is false when the line is none of these. */
bool words_tell_after(struct words *w, char **word, size_t n, bool *ret_known);

/* The queue was told of a Job / started it. */
void words_after_told(struct words *w, const struct job *j);
void words_after_started(struct words *w, const struct uid *uid);
void words_answer_wanted(struct words *w);
void words_after_done(struct words *w);

#endif
