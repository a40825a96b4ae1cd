/* Any text as a series of prices: points in order of time and within their bounds, or a sentence
 * that is safe to print. The first byte picks the reference. */
#include <stdint.h>
#include <stdlib.h>

#include "base/must.h"
#include "queue/price/series.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t references[] = {1, 7, 1000000, 80500000, INT64_C(1000000000000000)};

enum { REFERENCES = sizeof(references) / sizeof(references[0]) };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct price_point *p = NULL;
	size_t n = 0;
	struct err e = {""};
	if (size == 0)
		return 0;
	struct slice text = {(const char *)data + 1, size - 1};
	int rc = series_read(text, references[data[0] % REFERENCES], &p, &n, &e);
	must(rc == 0 || rc == ERR_INVALID || rc == ERR_LIMIT);
	must((rc == 0) != (*e.text != '\0') && (rc == 0 || (!p && n == 0)));
	must(n <= SERIES_POINTS_MAX && (n > 0) == (p != NULL));
	for (size_t i = 0; i < n; i++) {
		must(i == 0 || p[i - 1].from_ms < p[i].from_ms);
		must(llabs(p[i].factor) <= (int64_t)SERIES_FACTOR_MAX * PRICE_FACTOR_ONE);
	}
	check_text(e.text);
	free(p);
	return 0;
}
