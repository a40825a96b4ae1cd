#include "controller/common/status_patch.h"

void status_patch(struct buf *out, const struct uid *uid, struct slice status)
{
	char text[UID_TEXT_SIZE];
	uid_format(uid, text);
	buf_printf(out, "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"%s\"},", text);
	buf_puts(out, "{\"op\":\"add\",\"path\":\"/status\",\"value\":");
	buf_add(out, status.ptr, status.len);
	buf_puts(out, "}]");
}
