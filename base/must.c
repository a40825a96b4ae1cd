#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void must_failed(const char *cond, const char *file, int line)
{
	fprintf(stderr, "sluice: broken belief at %s:%d: %s\n", file, line, cond);
	abort();
}
