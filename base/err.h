/*
 * Errors: few to branch on, one sentence to read.
 *
 * A function that can fail returns 0 or one of these codes; every member is treated differently by
 * some caller. The sentence is written where the fault is seen, with the object, the field and the
 * cure in it, into the caller's struct err. A function returns an error or logs it, never both.
 */
#ifndef SLUICE_BASE_ERR_H
#define SLUICE_BASE_ERR_H

enum {
	ERR_INVALID = -1,  /* the input is wrong; trying again cannot help */
	ERR_GONE = -2,	   /* what was named does not exist */
	ERR_CONFLICT = -3, /* the object moved meanwhile: read again, then decide again */
	ERR_BUSY = -4,	   /* not now: the other side is overloaded or away */
	ERR_LIMIT = -5,	   /* over a ceiling */
	ERR_DENIED = -6,   /* we are not allowed to */
};

struct err {
	char text[512]; /* always NUL-terminated; "" when nothing was said */
};

/* Writes the sentence (cut to fit) and returns code, so that `return err_set(e, ERR_LIMIT, ...)`
 * reads in one line. e may be NULL. */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts context in front: err_wrap(e, "kubeconfig %s", path) gives "kubeconfig X: old sentence". */
void err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
