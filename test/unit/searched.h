/* How much a test that draws at random looks into. */
#ifndef TEST_SEARCHED_H
#define TEST_SEARCHED_H

#include <stdlib.h>

/* The number of seeds, or of what else it draws: `usual` in each run, `at_length` in `./dev test --long`. */
static inline unsigned searched(unsigned usual, unsigned at_length)
{
	return getenv("SLUICE_SEARCH") ? at_length : usual;
}

#endif
