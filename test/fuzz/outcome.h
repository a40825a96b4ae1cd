/* What the fuzz entries hold a decoder to: a record, or a sentence that is safe to print. */
#ifndef SLUICE_TEST_FUZZ_OUTCOME_H
#define SLUICE_TEST_FUZZ_OUTCOME_H

#include "base/err.h"
#include "base/must.h"
#include "base/slice.h"

/* A sentence may say what was written, in any script, but nothing that a terminal obeys. */
static inline void check_text(const char *s)
{
	must(slice_utf8(slice_of(s)));
	for (; *s; s++)
		must((unsigned char)*s >= 0x20 && *s != 0x7f);
}

static inline void check_outcome(int rc, const void *record, const struct err *e)
{
	must(rc == 0 || rc == ERR_INVALID);
	must((rc == 0) == (record != NULL));
	if (rc < 0) {
		must(*e->text);
		check_text(e->text);
	}
}

#endif
