/*
 * must(cond): a broken belief is not an error.
 *
 * A condition of must() can only be false if our own code is wrong. Going on would risk what the
 * whole program promises: nothing lost, nothing over-admitted. State lives in the API server and in
 * Postgres, and restart is a tested path, so dying is safe. On in release builds, too.
 */
#ifndef SLUICE_BASE_MUST_H
#define SLUICE_BASE_MUST_H

_Noreturn void must_failed(const char *cond, const char *file, int line);

#define must(cond) ((cond) ? (void)0 : must_failed(#cond, __FILE__, __LINE__))

/* Stands behind a switch that has a case for every member. */
#define must_not_get_here() must_failed("got here", __FILE__, __LINE__)

#endif
