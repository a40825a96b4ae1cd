#include "cli/deployed.h"

#include <string.h>

#include "base/buf.h"
#include "base/must.h"

#define WRITTEN "sluice-system"

char *deployed_for(const char *text, const char *namespace_name)
{
	struct buf b;
	buf_init(&b, (size_t)4 << 20);
	const char *at = text;
	for (const char *next; (next = strstr(at, WRITTEN)); at = next + strlen(WRITTEN)) {
		buf_add(&b, at, (size_t)(next - at));
		buf_puts(&b, namespace_name);
	}
	buf_puts(&b, at);
	must(!b.failed);
	return buf_take(&b);
}
