#include "controller/wire/decode_qos.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "controller/wire/decode_aside.h"
#include "controller/wire/decode_parts.h"

#define QOS "resource-qos-config"
#define STRATEGIES_MAX 32
#define NOTE_MAX_BYTES 300

struct noting {
	struct decoder *d;
	const char **note;
	size_t count;
};

static void note(struct noting *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Keeps a sentence; one that is there already is not said again. */
static void note(struct noting *n, const char *fmt, ...)
{
	char text[NOTE_MAX_BYTES];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (size_t i = 0; i < n->count; i++)
		if (strcmp(n->note[i], text) == 0)
			return;
	if (n->count < QOS_NOTES_MAX)
		n->note[n->count++] = text_quote(n->d, text, NOTE_MAX_BYTES);
}

static bool is_on(const cJSON *block)
{
	bool on = false;
	return json_bool(block, "enable", &on) == 0 && on;
}

static int64_t whole(const cJSON *block, const char *key)
{
	int64_t n = 0;
	json_i64(block, key, &n);
	return n;
}

/* ---- beClass.cpuQOS -------------------------------------------------------------------------- */

static void put_idle(struct strategy_layer *l, enum cpu_idle idle)
{
	l->value.cpu_idle = idle;
	l->says |= UINT64_C(1) << FIELD_CPU_IDLE;
}

/* Reads cpuQOS: schedIdle counts under the policy coreSched, groupIdentity under the other one. */
static void read_cpu(
	struct noting *n, const cJSON *strategy, const cJSON *cpu, struct strategy_layer *l)
{
	bool on = false;
	bool by_idle = json_is(json_object(strategy, "policies"), "cpuPolicy", "coreSched");
	if (!cpu || json_bool(cpu, "enable", &on) < 0)
		return;
	if (!on)
		put_idle(l, CPU_IDLE_NEVER);
	else if (by_idle)
		put_idle(l, whole(cpu, "schedIdle") == 1 ? CPU_IDLE_ALWAYS : CPU_IDLE_NEVER);
	else if (whole(cpu, "groupIdentity") < 0) {
		put_idle(l, CPU_IDLE_AUTO);
		note(n, "beClass.cpuQOS.groupIdentity is taken as cpuIdle: Auto, for it needs a kernel of Anolis or Alibaba Cloud");
	}
	if (on && by_idle)
		note(n, "policies.cpuPolicy coreSched: only schedIdle is done, cores are not scheduled by groups");
}

/* ---- what is passed over --------------------------------------------------------------------- */

static const struct {
	const char *key, *why;
} memory_fields[] = {
	{"throttlingPercent", "lent pods have no room between what they ask for and their limit"},
	{"minLimitPercent", "memory.min and memory.low are the kubelet's (MemoryQoS)"},
	{"lowLimitPercent", "memory.min and memory.low are the kubelet's (MemoryQoS)"},
	{"wmarkRatio", "it needs a kernel of Anolis or Alibaba Cloud"},
	{"wmarkScalePermill", "it needs a kernel of Anolis or Alibaba Cloud"},
	{"wmarkMinAdj", "it needs a kernel of Anolis or Alibaba Cloud"},
	{"priorityEnable", "it needs a kernel of Anolis or Alibaba Cloud"},
	{"priority", "it needs a kernel of Anolis or Alibaba Cloud"},
	{"oomKillGroup", "it needs a kernel of Anolis or Alibaba Cloud"},
};

static const struct {
	const char *key, *why;
} blocks[] = {
	{"resctrlQOS", "L3 cache and memory bandwidth are not bounded"},
	{"blkioQOS", "disks are not bounded"},
	{"networkQOS", "the network is not bounded"},
};

static void pass_over_best_effort(struct noting *n, const cJSON *class)
{
	const cJSON *memory = json_object(class, "memoryQOS");
	for (size_t i = 0; is_on(memory) && i < sizeof(memory_fields) / sizeof(*memory_fields); i++)
		if (whole(memory, memory_fields[i].key) != 0)
			note(n, "beClass.memoryQOS.%s is passed over: %s", memory_fields[i].key,
				memory_fields[i].why);
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		if (is_on(json_object(class, blocks[i].key)))
			note(n, "beClass.%s is passed over: %s", blocks[i].key, blocks[i].why);
}

/* Whether anything of a class is switched on. */
static bool does_anything(const cJSON *class)
{
	json_each(block, class)
		if (cJSON_IsObject(block) && is_on(block))
			return true;
	return false;
}

static struct strategy_layer read_strategy(struct noting *n, const cJSON *strategy)
{
	static const char *const others[] = {"lsrClass", "lsClass", "systemClass", "cgroupRoot"};
	struct strategy_layer l = {0};
	const cJSON *best_effort = json_object(strategy, "beClass");
	read_cpu(n, strategy, json_object(best_effort, "cpuQOS"), &l);
	pass_over_best_effort(n, best_effort);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (does_anything(json_object(strategy, others[i])))
			note(n, "%s is passed over: Sluice touches lent pods alone", others[i]);
	return l;
}

/* ---- the document ---------------------------------------------------------------------------- */

/* Reads an entry; false: it is for no node that can be told. */
static bool read_entry(
	struct noting *n, const struct path *at, const cJSON *item, struct node_strategy *ret)
{
	struct faults_aside a = faults_aside(n->d);
	ret->selector = label_selector(
		n->d, PATH(at, "nodeSelector"), object_field(n->d, at, item, "nodeSelector"));
	const char *fault = faults_back(n->d, &a);
	if (fault || ret->selector.nrequirements == 0) {
		note(n, "%s", fault ? fault : QOS ".nodeStrategies: an entry selects no nodes");
		return false;
	}
	ret->layer = read_strategy(n, item);
	return true;
}

static void read_entries(struct noting *n, const cJSON *root, struct qos_config *ret)
{
	size_t i = 0;
	const cJSON *list = json_array(root, "nodeStrategies");
	struct node_strategy *all = parcel_array(&n->d->parcel, STRATEGIES_MAX, sizeof(*all));
	ret->nodes = all;
	json_each(item, list) {
		const struct path *at = PATH_INDEX(PATH(PATH(NULL, QOS), "nodeStrategies"), i++);
		if (ret->nnodes == STRATEGIES_MAX) {
			note(n, QOS ".nodeStrategies: only the first %d count", STRATEGIES_MAX);
			return;
		}
		if (cJSON_IsObject(item) && read_entry(n, at, item, &all[ret->nnodes]))
			ret->nnodes++;
	}
}

static struct noting begin(struct decoder *d)
{
	return (struct noting){
		.d = d, .note = parcel_array(&d->parcel, QOS_NOTES_MAX, sizeof(const char *))};
}

struct qos_config qos_field(struct decoder *d, const cJSON *root)
{
	struct qos_config c = {0};
	if (!root)
		return c;
	struct noting n = begin(d);
	c.cluster = read_strategy(&n, json_object(root, "clusterStrategy"));
	read_entries(&n, root, &c);
	c.notes = n.note;
	c.nnotes = n.count;
	return c;
}

struct qos_config qos_fault(struct decoder *d, const char *why)
{
	struct noting n = begin(d);
	note(&n, "it is passed over: %s", why);
	return (struct qos_config){.notes = n.note, .nnotes = n.count};
}
