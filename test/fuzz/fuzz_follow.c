/*
 * Any bytes among healthy Jobs: as an object in an event, as a line of the watch, as an item of a
 * page. What must hold: follow.h.
 */
#include <stdint.h>

#include "test/fuzz/follow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice victim = {(const char *)data, size};
	size_t chunk = size > 0 ? 1 + data[0] % 61 : 1;
	follow_stream(victim, chunk);
	follow_line(victim, chunk);
	follow_pages(victim);
	return 0;
}
