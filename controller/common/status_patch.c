#include "controller/common/status_patch.h"

#include <inttypes.h>

void status_patch(struct buf *out, const struct uid *uid, int64_t version, struct slice status)
{
	char text[UID_TEXT_SIZE];
	uid_format(uid, text);
	buf_printf(out, "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"%s\"},", text);
	if (version != 0)
		buf_printf(out,
			"{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"%" PRId64
			"\"},",
			version);
	buf_puts(out, "{\"op\":\"add\",\"path\":\"/status\",\"value\":");
	buf_add(out, status.ptr, status.len);
	buf_puts(out, "}]");
}
