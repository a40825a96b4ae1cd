/* What is drawn in the tests of node/: the same for the same seed, which a failure names. */
#ifndef SLUICE_TEST_NODE_DRAW_H
#define SLUICE_TEST_NODE_DRAW_H

#include <stdbool.h>
#include <stdlib.h>

#include "base/mix.h"
#include "base/uid.h"
#include "test/unit/overcommit/table.h"

#define MIB (INT64_C(1) << 20)

static uint64_t drawn, playing;

/* 0 .. n - 1 */
static inline int64_t below(int64_t n)
{
	return (int64_t)(draw64(&drawn) % (uint64_t)n);
}

static inline bool once_in(int64_t n)
{
	return below(n) == 0;
}

#define holds(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			print_error("seed %" PRIu64 "\n", playing);                                \
			fail_msg("%s", #cond);                                                     \
		}                                                                                  \
	} while (0)

/* Plays a seed. */
static inline void play_seed(uint64_t seed, void (*play)(void))
{
	playing = seed;
	drawn = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	play();
}

/* Plays n seeds, or the one of the command line. */
static uint64_t only_seed;

static inline void play_seeds(uint64_t n, void (*play)(void))
{
	if (only_seed)
		play_seed(only_seed, play);
	else
		for (uint64_t seed = 1; seed <= n; seed++)
			play_seed(seed, play);
}

static inline void take_seed(int argc, char **argv)
{
	if (argc > 1)
		only_seed = strtoull(argv[1], NULL, 10);
}

static inline struct uid uid_of(uint64_t n)
{
	struct uid uid = {{0}};
	n = mix64(n + 1);
	memcpy(uid.byte, &n, sizeof(n));
	return uid;
}

#endif
