#include "cli/overcommit/agent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/json.h"
#include "base/span.h"
#include "cli/table.h"

enum { JSON_MAX_BYTES = 1 << 16 };

static int64_t number(const cJSON *object, const char *key)
{
	int64_t n = 0;
	json_i64(object, key, &n);
	return n;
}

static struct load load_of(const cJSON *object, const char *key)
{
	const cJSON *l = json_object(object, key);
	return (struct load){number(l, "cpuMilli"), number(l, "memoryBytes")};
}

static struct estimate_terms terms_of(const cJSON *terms, const char *key)
{
	static const char *const policies[] = {"usage", "request", "maxUsageRequest"};
	const cJSON *t = json_object(terms, key);
	struct estimate_terms ret = {.base = number(t, "base"),
		.margin = number(t, "margin"),
		.reserved = number(t, "reserved"),
		.system_used = number(t, "systemUsed"),
		.system = number(t, "system"),
		.used = number(t, "used"),
		.requested = number(t, "requested"),
		.max = number(t, "max"),
		.taken = number(t, "taken"),
		.cap = number(t, "cap"),
		.result = number(t, "result")};
	for (int i = 0; i < 3; i++)
		if (json_is(t, "policy", policies[i]))
			ret.policy = (enum lending_policy)i;
	return ret;
}

static void read_lacks(const cJSON *agent, char *ret, size_t size)
{
	json_each(word, json_array(agent, "lacks")) {
		size_t len = strlen(ret);
		if (cJSON_IsString(word))
			snprintf(ret + len, size - len, "%s%.20s", len ? ", " : "",
				word->valuestring);
	}
}

/* Reads the sum, where the controller made one of what its agent reports. */
static void read_sum(const cJSON *report, const cJSON *agent, struct agent *ret)
{
	const cJSON *terms = json_object(report, "terms");
	bool is_source = false;
	json_bool(agent, "isSource", &is_source);
	ret->is_source = is_source && terms;
	ret->sample_ms = json_instant(report, "sampleTime");
	ret->used = load_of(report, "used");
	ret->gocran = load_of(report, "gocran");
	ret->estimate = (struct estimate){.cpu = terms_of(terms, "cpu"),
		.memory = terms_of(terms, "memory"),
		.high_pods = (size_t)number(report, "highPods"),
		.low_pods = (size_t)number(report, "lowPods"),
		.without_sample = (size_t)number(report, "withoutSample")};
}

void agent_read(const struct cJSON *report, struct agent *ret)
{
	const cJSON *agent = json_object(report, "agent");
	struct buf json;
	*ret = (struct agent){.age_ms = -1, .may_milli = -1};
	if (!agent)
		return;
	buf_init(&json, JSON_MAX_BYTES);
	json_print(&json, agent);
	ret->json = buf_take(&json);
	json_i64(agent, "ageMs", &ret->age_ms);
	ret->pods = number(agent, "lentPods");
	ret->held = number(agent, "heldPods");
	ret->over = number(agent, "overPods");
	ret->used_milli = number(agent, "usedCpuMilli");
	ret->asked_milli = number(agent, "askedCpuMilli");
	json_i64(agent, "mayCpuMilli", &ret->may_milli);
	read_lacks(agent, ret->lacks, sizeof(ret->lacks));
	read_sum(report, agent, ret);
}

void agent_done(struct agent *a)
{
	free(a->json);
}

/* ---- for people ------------------------------------------------------------------------------ */

/* Writes cores with a digit behind the point. */
static void put_cores(int64_t milli, struct buf *out)
{
	int64_t tenths = milli / 100 + (milli % 100 >= 50);
	buf_printf(out, "%" PRId64 ".%d", tenths / 10, (int)(tenths % 10));
}

static void put_age(int64_t age_ms, struct buf *out)
{
	if (age_ms < 10000)
		buf_printf(out, "%d.%d s ago", (int)(age_ms / 1000), (int)(age_ms % 1000 / 100));
	else
		buf_printf(out, "%s ago", span_short(age_ms).s);
}

static void put_use(const struct agent *a, struct buf *out)
{
	bool one = a->pods == 1;
	const char *it = one ? "it" : "they";
	buf_printf(out, "; %" PRId64 " lent pod%s use%s ", a->pods, one ? "" : "s", one ? "s" : "");
	put_cores(a->used_milli, out);
	buf_puts(out, " of ");
	put_cores(a->may_milli < 0 ? a->asked_milli : a->may_milli, out);
	if (a->may_milli < 0)
		buf_printf(out, " cpu that %s ask%s for", it, one ? "s" : "");
	else
		buf_printf(out, " cpu that %s may have now", it);
	if (a->held > 0)
		buf_printf(out, ", %" PRId64 " %s held below what %s for", a->held,
			a->held == 1 ? "is" : "are", a->held == 1 ? "it asks" : "they ask");
}

void agent_put(const struct agent *a, struct buf *out)
{
	if (!a->json)
		return;
	buf_puts(out, "  Its agent: ");
	if (a->age_ms < 0) {
		buf_puts(out, "nothing since this controller began to lead.\n");
		return;
	}
	put_age(a->age_ms, out);
	if (a->pods > 0)
		put_use(a, out);
	buf_puts(out, ".\n");
	if (a->over > 0)
		buf_printf(out, "  %" PRId64 " of them use%s more memory than asked for.\n",
			a->over, a->over == 1 ? "s" : "");
	if (!*a->lacks)
		return;
	buf_puts(out, "  What the agent cannot do there: ");
	text_render(a->lacks, out);
	buf_puts(out, ".\n");
}
