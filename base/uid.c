#include "base/uid.h"
#include "base/json_writer.h"

#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool dash_at(size_t i)
{
	return i == 8 || i == 13 || i == 18 || i == 23;
}

bool uid_parse(const char *text, struct uid *ret_uid)
{
	struct uid uid = {{0}};
	size_t nibble = 0;
	if (!text || strlen(text) != UID_TEXT_SIZE - 1)
		return false;
	for (size_t i = 0; i < UID_TEXT_SIZE - 1; i++) {
		if (dash_at(i)) {
			if (text[i] != '-')
				return false;
			continue;
		}
		int digit = hex_digit(text[i]);
		if (digit < 0)
			return false;
		uid.byte[nibble / 2] = (uint8_t)(uid.byte[nibble / 2] << 4 | digit);
		nibble++;
	}
	*ret_uid = uid;
	return true;
}

void uid_format(const struct uid *uid, char ret_text[UID_TEXT_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	char *p = ret_text;
	for (size_t i = 0; i < 16; i++) {
		if (dash_at((size_t)(p - ret_text)))
			*p++ = '-';
		*p++ = digits[uid->byte[i] >> 4];
		*p++ = digits[uid->byte[i] & 15];
	}
	*p = '\0';
}

void uid_put(struct json_writer *w, const char *key, const struct uid *uid)
{
	char text[UID_TEXT_SIZE];
	uid_format(uid, text);
	jw_text(w, key, text);
}

int uid_cmp(const struct uid *a, const struct uid *b)
{
	return memcmp(a->byte, b->byte, sizeof(a->byte));
}

/* Mixes well, because uids may also be made of numbers in a row (a trace's are), and the table of
 * map.h takes the low bits. */
uint64_t uid_hash(const struct uid *uid)
{
	uint64_t high, low;
	memcpy(&high, uid->byte, 8);
	memcpy(&low, uid->byte + 8, 8);
	uint64_t h = high * 0x9E3779B97F4A7C15u ^ low;
	h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
	h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
	return h ^ h >> 32;
}
