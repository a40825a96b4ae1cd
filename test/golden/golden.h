/*
 * Golden files: the texts that a test program makes (answers, statuses, patches, pages), compared byte for byte
 * with the file of that program in this folder.
 *
 * A test hands in each text; golden_close() compares when all tests have run. To keep the files short, a text is
 * noted only where something in it is new to the program: a member of JSON (by its name, the name before it and
 * the type of its value), or a line (by its words). JSON is broken behind its commas, so that a diff shows the
 * member that changed. Of a very long text its beginning is there, and a hash.
 *
 * To renew the files after a change that is meant, and then to read their diff:
 *
 *     SLUICE_GOLDEN=renew ctest --test-dir build/release -L golden
 *
 * Texts must be the same in each run: no clock, no random, no ports.
 */
#ifndef SLUICE_TEST_GOLDEN_GOLDEN_H
#define SLUICE_TEST_GOLDEN_GOLDEN_H

#include "base/buf.h"

/* Notes a text under the name of the test function that made it, and what it is about. */
void golden_add(const char *test, const char *about, struct slice text);
/* A group teardown of cmocka, for main(). */
int golden_close(void **state);

/* Notes the text, then buf_reset() or buf_done(). */
static inline void golden_reset(const char *test, struct buf *text)
{
	golden_add(test, "", buf_slice(text));
	buf_reset(text);
}

static inline void golden_done(const char *test, struct buf *text)
{
	golden_add(test, "", buf_slice(text));
	buf_done(text);
}

#define GOLDEN_RESET(text) golden_reset(__func__, text)
#define GOLDEN_DONE(text) golden_done(__func__, text)

#endif
