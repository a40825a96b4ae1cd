#include "controller/answers/members.h"

#include "controller/common/stamp.h"
#include "queue/price/money.h"

void put_member(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, ",\"%s\":", key);
	buf_json_string(out, value ? value : "");
}

void put_member_bool(struct buf *out, const char *key, bool value)
{
	buf_printf(out, ",\"%s\":%s", key, value ? "true" : "false");
}

void put_member_time(struct buf *out, const char *key, int64_t ms)
{
	char at[STAMP_TEXT_SIZE];
	put_member(out, key, stamp_format_seconds(ms, at));
}

void put_member_money(struct buf *out, const char *key, int64_t micro)
{
	char text[MONEY_TEXT_SIZE];
	money_format(micro, text);
	put_member(out, key, text);
}
