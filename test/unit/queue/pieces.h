/*
 * Pieces of a scenario's line (words.h): amounts, tolerations, selector terms.
 *
 * What a piece points to is cut out of its word in place, or a copy that lives until
 * piece_drop_all(), that is until the next line is read.
 */
#ifndef SLUICE_TEST_QUEUE_PIECES_H
#define SLUICE_TEST_QUEUE_PIECES_H

#include "words.h"

void *piece_keep(void *ptr); /* freed by piece_drop_all */
char *piece_copy(const char *s);
void piece_drop_all(void);

/* Writes why the line makes no sense; always false. */
bool piece_wrong(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "a=b" cut at the first c: what is behind it; NULL, and text uncut, when there is none. */
char *piece_after(char *text, char c);
const char *piece_before(const char *text, char c);	    /* a copy of what stands before it */
const char *piece_value(const char *word, const char *key); /* "b" of "key=b", or NULL */

struct label piece_label(char *text, char c);	  /* "key=value", or "key"; c: what is between */
enum taint_effect piece_effect(const char *name); /* NULL: any */
struct toleration piece_toleration(char *text);
enum stop_policy piece_policy(const char *name);
bool piece_amount(struct words *w, const char *resource, const char *text, int64_t *ret);
bool piece_term(struct words *w, char *text, struct selector_term *ret);

#endif
