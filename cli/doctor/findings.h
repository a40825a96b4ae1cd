/*
 * What a check has found, and how it is told.
 *
 * A check ends as ok with what was seen, as skipped with why, or with findings. A finding is a
 * sentence and a cure that can be pasted into a shell or psql (what cannot be done there is a
 * comment). A finding without its own cure has the check's. Of very many findings the first are
 * kept and the rest counted.
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
	enum verdict verdict;		     /* the worst of its findings */
	char *detail; /* what was seen, or why it was skipped; for OK and SKIPPED */
	struct finding kept[FINDINGS_KEPT];
	size_t count; /* of all findings, also those that are not kept */
};

void findings_done(struct findings *f);

void findings_ok(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void findings_skip(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void findings_add(struct findings *f, enum verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Sets the cure of the finding that was just added. */
void findings_cure(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Turns known and accepted findings into a skipped check that says how many there were. Without
 * findings nothing happens. */
void findings_ignore(struct findings *f);

size_t findings_count(const struct findings *f, size_t n);

void findings_render_table(
	const struct findings *f, size_t n, const struct style *style, struct buf *out);
void findings_render_json(const struct findings *f, size_t n, struct buf *out);

#endif
