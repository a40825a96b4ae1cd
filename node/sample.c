#include "node/sample.h"

#include <stdlib.h>

const char *const deed_names[DEED_KINDS] = {
	[DEED_LIMITED] = "limited",
	[DEED_HELD] = "held",
	[DEED_LIFTED] = "lifted",
	[DEED_ENDING] = "ending",
	[DEED_ENDED] = "ended",
	[DEED_REFUSED] = "refused",
	[DEED_UNDONE] = "undone",
};

void sample_free(struct sample *s)
{
	free(s);
}
