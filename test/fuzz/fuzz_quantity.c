/* Any bytes as a quantity: what parses is written in a form that parses to the same, and the two
 * units agree. */
#include <stdint.h>
#include <string.h>

#include "base/must.h"
#include "sluice/quantity.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_format(int64_t amount, enum quantity_unit unit, bool binary)
{
	char text[QUANTITY_TEXT_SIZE];
	int64_t again = 0;
	quantity_format(amount, unit, binary, text);
	must(quantity_parse(slice_of(text), unit, &again, NULL) == 0);
	must(again == amount);
}

static void check_sentence(const struct err *e)
{
	must(*e->text);
	check_text(e->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = {(const char *)data, size};
	struct err e = {""};
	int64_t whole = 0, milli = 0;
	int whole_rc = quantity_parse(text, QUANTITY_WHOLE, &whole, &e);
	if (whole_rc < 0)
		check_sentence(&e);
	int milli_rc = quantity_parse(text, QUANTITY_MILLI, &milli, &e);
	must((whole_rc == ERR_INVALID) == (milli_rc == ERR_INVALID));
	must(whole_rc == 0 || milli_rc < 0); /* a thousandth is not larger */
	if (whole_rc == 0) {
		check_format(whole, QUANTITY_WHOLE, true);
		check_format(whole, QUANTITY_WHOLE, false);
	}
	if (milli_rc == 0) {
		int64_t rest = milli % 1000;
		must(whole == milli / 1000 + (rest > 0) - (rest < 0));
		check_format(milli, QUANTITY_MILLI, false);
	}
	return 0;
}
