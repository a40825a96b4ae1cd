/* Any bytes as lines of a trace: whatever is taken is within bounds, and sorting loses nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "cli/simulate/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct trace_job *j)
{
	must(j->submit_ms >= 0 && j->submit_ms <= INT64_C(3153600000000));
	must(j->run_ms >= 0 && j->run_ms <= INT64_C(3153600000000));
	must(j->requested_ms >= 0 && j->processors > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace t = {0};
	char *text = mem_strndup((const char *)data, size), *line = text;
	size_t taken = 0;
	while (line) {
		struct err e = {""};
		char *end = strchr(line, '\n');
		if (end)
			*end = '\0';
		int rc = trace_line(&t, line, 1.5, &e);
		must(rc >= 0 || *e.text);
		taken += rc > 0;
		line = end ? end + 1 : NULL;
	}
	must(taken == t.njobs);
	trace_sort(&t);
	for (size_t i = 0; i < t.njobs; i++) {
		check(&t.job[i]);
		must(i == 0 || t.job[i - 1].submit_ms <= t.job[i].submit_ms);
	}
	trace_done(&t);
	free(text);
	return 0;
}
