/* What a Job says of idle resources. */
#include "test/unit/wire_test.h"

#include "controller/wire/decode.h"

#define UID "'uid':'123e4567-e89b-12d3-a456-426614174000'"

/* A Job with these pieces inside; "" for none. */
static struct job *job_with(const char *annotations, const char *spec, const char *pod)
{
	struct buf b;
	struct job *j = NULL;
	struct err e = {""};
	buf_init(&b, 1 << 20);
	buf_puts(&b, "{'kind':'Job','metadata':{'name':'train','namespace':'team-a'," UID);
	buf_printf(&b, ",'annotations':{%s}},'spec':{", annotations);
	buf_printf(&b, "%s%s'template':%s}}", spec, *spec ? "," : "", *pod ? pod : "{}");
	if (decode_job(parsed(buf_text(&b)), &j, &e) < 0)
		fail_msg("%s: %s", buf_text(&b), e.text);
	buf_done(&b);
	return j;
}

/* ---- Evictions --------------------------------------------------------------------------------
 */

#define DISRUPTED "{'action':'Ignore','onPodConditions':[{'type':'DisruptionTarget'}]}"
#define EXIT_IGNORED "{'action':'Ignore','onExitCodes':{'operator':'In','values':[42]}}"
#define EXIT_FAILS "{'action':'FailJob','onExitCodes':{'operator':'In','values':[143]}}"

static const struct eviction_row {
	const char *rules;
	bool is;
} eviction_rows[] = {
	{"", false},
	{DISRUPTED, true},
	{EXIT_IGNORED "," DISRUPTED, true},
	{DISRUPTED "," EXIT_FAILS, true},
	{EXIT_FAILS "," DISRUPTED, false}, /* it might end with that when it is evicted */
	{"{'action':'Ignore','onPodConditions':[{'type':'Other'},{'type':'DisruptionTarget',"
	 "'status':'True'}]}",
		true},
	{"{'action':'Ignore','onPodConditions':[{'type':'DisruptionTarget','status':'False'}]}",
		false},
	{"{'action':'Count','onPodConditions':[{'type':'DisruptionTarget'}]}", false},
	{"7", false},
	{"{'action':'Ignore','onPodConditions':{}}", false},
};

static void whose_evictions_count_for_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(eviction_rows) / sizeof(*eviction_rows); i++) {
		char spec[600];
		snprintf(spec, sizeof(spec), "'podFailurePolicy':{'rules':[%s]}",
			eviction_rows[i].rules);
		struct job *j = job_with("", spec, "");
		if (j->ignores_disruption != eviction_rows[i].is)
			fail_msg("%s", eviction_rows[i].rules);
		free(j);
	}
	struct job *j = job_with("", "", "");
	assert_false(j->ignores_disruption);
	free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whose_evictions_count_for_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
