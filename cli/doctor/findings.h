/*
 * What a check has found, and how it is told.
 *
 * A check ends in exactly one of: ok with what was seen, skipped with why, or findings. Each
 * finding is a sentence and a cure that can be pasted into a shell or psql (what cannot be done
 * there is a comment); without a cure of its own it has the check's. Of very many findings the
 * first are kept and the rest counted.
 */
#ifndef SLUICE_CLI_DOCTOR_FINDINGS_H
#define SLUICE_CLI_DOCTOR_FINDINGS_H

#include <stddef.h>

#include "base/buf.h"
#include "cli/table.h"

enum verdict { VERDICT_OK, VERDICT_SKIPPED, VERDICT_WARN, VERDICT_FAIL, VERDICTS };

enum { FINDINGS_KEPT = 20 };

struct finding {
	enum verdict verdict; /* WARN or FAIL */
	char *text, *cure;
};

struct findings {
	const char *name, *group, *looks_at; /* the check's */
	char *usual_cure;		     /* ours */
	enum verdict verdict;		     /* the worst */
	char *detail;			     /* of OK and SKIPPED */
	struct finding kept[FINDINGS_KEPT];
	size_t count; /* may be more than are kept */
};

void findings_done(struct findings *f);

void findings_ok(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void findings_skip(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void findings_add(struct findings *f, enum verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Of the finding just added. */
void findings_cure(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Known and accepted: skipped, with how many there were. Nothing happens where there are none. */
void findings_ignore(struct findings *f);

/* How many findings, over all checks. */
size_t findings_count(const struct findings *f, size_t n);

void findings_render_table(
	const struct findings *f, size_t n, const struct style *style, struct buf *out);
void findings_render_json(const struct findings *f, size_t n, struct buf *out);

#endif
