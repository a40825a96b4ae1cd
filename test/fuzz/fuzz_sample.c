/*
 * Any bytes as the sample of an agent: a sample that keeps the promises of sample.h and says the same
 * once it was written and read again, or a sentence that is safe to print.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "node/wire.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_pods(const struct sample *s)
{
	must(s->npods <= SAMPLE_PODS_MAX);
	for (size_t i = 0; i < s->npods; i++) {
		const struct sampled_pod *p = &s->pods[i];
		must(p->used.cpu_milli >= 0 && p->used.memory_bytes >= 0);
		must(p->quota_milli >= -1 && p->throttled_ms >= 0);
		for (size_t k = 0; k < i; k++)
			must(uid_cmp(&p->uid, &s->pods[k].uid) != 0);
	}
}

static void check_deeds(const struct sample *s)
{
	must(s->ndeeds <= SAMPLE_DEEDS_MAX && s->deeds_lost >= 0);
	for (size_t i = 0; i < s->ndeeds; i++) {
		must(s->deeds[i].number > (i ? s->deeds[i - 1].number : 0));
		must(s->deeds[i].kind < DEED_KINDS && s->deeds[i].value >= 0);
		must(strlen(s->deeds[i].file) < sizeof(s->deeds[i].file));
		check_text(s->deeds[i].file);
		must(!strchr(s->deeds[i].file, '/'));
	}
}

static void check_sample(const struct sample *s)
{
	must(strlen(s->boot) == UID_TEXT_SIZE - 1);
	check_text(s->boot);
	must(s->number > 0 && s->window_ms >= 0 && s->orders >= 0 && s->lacks <= LACKS_ALL);
	must(s->used.cpu_milli >= 0 && s->used.memory_bytes >= 0);
	must(s->pods_used.cpu_milli >= -1 && s->pods_used.memory_bytes >= -1);
	must(s->memory_total >= -1 && s->memory_available >= -1);
	must(s->pressure_us >= -1 && s->may_milli >= -1);
	check_pods(s);
	check_deeds(s);
}

static void check_again(struct json *j, const struct sample *s)
{
	struct sample *again = NULL;
	struct buf first, second;
	buf_init(&first, SAMPLE_BYTES_MAX); /* whatever it says */
	buf_init(&second, SAMPLE_BYTES_MAX);
	wire_put_sample(s, &first);
	must(!first.failed);
	must(wire_read_sample(j, buf_slice(&first), &again, NULL) == 0);
	wire_put_sample(again, &second);
	must(slice_eq(buf_slice(&first), buf_slice(&second)));
	sample_free(again);
	buf_done(&first);
	buf_done(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *j = json_new(64 << 20);
	struct sample *s = NULL;
	struct err e = {""};
	int rc = wire_read_sample(j, (struct slice){(const char *)data, size}, &s, &e);
	check_outcome(rc == ERR_LIMIT ? ERR_INVALID : rc, s, &e);
	if (s) {
		check_sample(s);
		check_again(j, s);
	}
	sample_free(s);
	json_free(j);
	return 0;
}
