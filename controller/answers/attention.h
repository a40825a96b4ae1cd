/*
 * What needs attention: Jobs with which nothing good happens until somebody does something.
 *
 *   a run is in trouble: its pods do not run (gate/trouble.h). It holds quota meanwhile;
 *   a run has ended, and pods of it are left for too long. It holds quota, too;
 *   a Job can no longer end by its deadline;
 *   a waiting Job can never start as it is: a name is wrong, no node suits it, it asks for more
 *   than there is, a Job that it waits for failed, or it had its chances.
 *
 * A Job counts once, by the first of these. Left out is what somebody decided and may undo: a Job on
 * hold, a queue that is stopped, a Budget that is spent. So is what is wrong with all Jobs at once (the
 * ledger is down).
 *
 * Jobs that are alike (word, namespace, ClusterQueue and sweep) are one item, so a sweep of a thousand
 * with one wrong label does not hide the others. The worst items come first: by the order above, and
 * those that last for longest.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_ATTENTION_H
#define SLUICE_CONTROLLER_ANSWERS_ATTENTION_H

#include "controller/answers/queued_job.h"

enum { ATTENTION_SHOWN_MAX = 100, ATTENTION_WORDS_MAX = 64 };

struct attention;

struct attention *attention_new(struct queued_jobs *all); /* borrows all */
void attention_free(struct attention *a);		  /* NULL is fine */

/* Counts the Job, where something is wrong with it. True: it is. Names are borrowed. */
bool attention_add(struct attention *a, const struct queued_job *j, size_t row, const char *sweep);

/* Puts the items, ATTENTION_SHOWN_MAX at most, as an array; and how many Jobs have each word. */
void attention_put(struct attention *a, struct json_writer *w, const char *key);
void attention_put_words(const struct attention *a, struct json_writer *w, const char *key);
size_t attention_jobs(const struct attention *a);

extern const struct view attention_view, attention_word_view;

#endif
