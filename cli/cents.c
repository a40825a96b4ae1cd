#include "cli/cents.h"

#include <stdio.h>

#include "queue/price/money.h"

struct cents_text cents_of(const char *decimal)
{
	struct cents_text ret;
	int64_t micro;
	bool is_negative = decimal[0] == '-';
	snprintf(ret.s, sizeof(ret.s), "%s", decimal);
	if (money_parse(slice_of(decimal + is_negative), &micro, NULL) == 0)
		money_short(is_negative ? -micro : micro, ret.s);
	return ret;
}
