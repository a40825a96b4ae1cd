/* Whose use counts as taken, rule by rule, in both profiles. */
#include "table.h"

#include "overcommit/tier.h"

#define PRIORITY(p) .has_priority = true, .priority = (p)

static const char *const names[] = {"high", "exclusive", "low"};

static const struct {
	const char *name;
	struct tier_facts f;
	enum tier ack, koordinator;
} tiers[] = {
	/* Nobody says anything: Kubernetes' own class of service. */
	{"guaranteed", {.qos = POD_GUARANTEED}, TIER_HIGH, TIER_HIGH},
	{"burstable", {.qos = POD_BURSTABLE}, TIER_HIGH, TIER_HIGH},
	{"best effort", {.qos = POD_BEST_EFFORT}, TIER_LOW, TIER_LOW},
	{"best effort in kube-system", {.qos = POD_BEST_EFFORT, .in_kube_system = true}, TIER_HIGH,
		TIER_LOW},
	{"kube-proxy", {.qos = POD_BEST_EFFORT, PRIORITY(2000001000)}, TIER_HIGH, TIER_LOW},
	{"best effort, the least critical priority", {.qos = POD_BEST_EFFORT, PRIORITY(1000000000)},
		TIER_HIGH, TIER_LOW},
	{"best effort, the greatest of one's own", {.qos = POD_BEST_EFFORT, PRIORITY(999999999)},
		TIER_LOW, TIER_LOW},
	{"best effort, of priority -5", {.qos = POD_BEST_EFFORT, PRIORITY(-5)}, TIER_LOW, TIER_LOW},

	/* The label of service, or the legacy annotation. */
	{"BE that asks for cpu", {.qos = POD_GUARANTEED, .qos_label = "BE"}, TIER_LOW, TIER_LOW},
	{"BE in kube-system", {.qos = POD_BURSTABLE, .qos_label = "BE", .in_kube_system = true},
		TIER_LOW, TIER_LOW},
	{"LS that asks for nothing", {.qos = POD_BEST_EFFORT, .qos_label = "LS"}, TIER_HIGH,
		TIER_HIGH},
	{"LSR", {.qos = POD_GUARANTEED, .qos_label = "LSR"}, TIER_HIGH, TIER_HIGH},
	{"LSE keeps its cpu", {.qos = POD_GUARANTEED, .qos_label = "LSE"}, TIER_HIGH_EXCLUSIVE,
		TIER_HIGH_EXCLUSIVE},
	{"SYSTEM", {.qos = POD_BEST_EFFORT, .qos_label = "SYSTEM"}, TIER_HIGH, TIER_HIGH},
	{"a label that names nothing, best effort", {.qos = POD_BEST_EFFORT, .qos_label = "be"},
		TIER_LOW, TIER_LOW},
	{"a label that names nothing, burstable", {.qos = POD_BURSTABLE, .qos_label = "BestEffort"},
		TIER_HIGH, TIER_HIGH},

	/* The priority class, by its label. */
	{"class batch", {.qos = POD_GUARANTEED, .priority_label = "koord-batch"}, TIER_LOW,
		TIER_LOW},
	{"class free", {.qos = POD_GUARANTEED, .priority_label = "koord-free"}, TIER_LOW, TIER_LOW},
	{"class mid, best effort", {.qos = POD_BEST_EFFORT, .priority_label = "koord-mid"},
		TIER_HIGH, TIER_HIGH},
	{"class prod, best effort", {.qos = POD_BEST_EFFORT, .priority_label = "koord-prod"},
		TIER_HIGH, TIER_HIGH},
	{"class mid with label BE",
		{.qos = POD_BURSTABLE, .qos_label = "BE", .priority_label = "koord-mid"}, TIER_HIGH,
		TIER_HIGH},
	{"class batch with label LSE",
		{.qos = POD_BURSTABLE, .qos_label = "LSE", .priority_label = "koord-batch"},
		TIER_LOW, TIER_LOW},
	{"the label goes before the number",
		{.qos = POD_BURSTABLE, .priority_label = "koord-prod", PRIORITY(5500)}, TIER_HIGH,
		TIER_HIGH},
	{"and where it names nothing there is no class",
		{.qos = POD_BURSTABLE, .priority_label = "batch", PRIORITY(5500)}, TIER_HIGH,
		TIER_HIGH},

	/* The priority class, by spec.priority. */
	{"5000", {.qos = POD_BURSTABLE, PRIORITY(5000)}, TIER_LOW, TIER_LOW},
	{"5999", {.qos = POD_BURSTABLE, PRIORITY(5999)}, TIER_LOW, TIER_LOW},
	{"4999", {.qos = POD_BURSTABLE, PRIORITY(4999)}, TIER_HIGH, TIER_HIGH},
	{"6000", {.qos = POD_BURSTABLE, PRIORITY(6000)}, TIER_HIGH, TIER_HIGH},
	{"3000", {.qos = POD_BURSTABLE, PRIORITY(3000)}, TIER_LOW, TIER_LOW},
	{"3999", {.qos = POD_BURSTABLE, PRIORITY(3999)}, TIER_LOW, TIER_LOW},
	{"-3500", {.qos = POD_BURSTABLE, PRIORITY(-3500)}, TIER_HIGH, TIER_HIGH},
	{"9500, best effort", {.qos = POD_BEST_EFFORT, PRIORITY(9500)}, TIER_HIGH, TIER_HIGH},
	{"10000, best effort", {.qos = POD_BEST_EFFORT, PRIORITY(10000)}, TIER_LOW, TIER_LOW},
	{"7000 with label BE", {.qos = POD_BURSTABLE, .qos_label = "BE", PRIORITY(7000)}, TIER_HIGH,
		TIER_HIGH},

	/* What it asks for. */
	{"lent resources", {.qos = POD_BEST_EFFORT, .asks_for_lent = true}, TIER_LOW, TIER_LOW},
	{"lent resources in kube-system",
		{.qos = POD_BEST_EFFORT, .asks_for_lent = true, .in_kube_system = true}, TIER_LOW,
		TIER_LOW},
	{"lent and ordinary ones", {.qos = POD_BURSTABLE, .asks_for_lent = true}, TIER_LOW,
		TIER_HIGH},
};

static void who_is_low(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(tiers); i++) {
		enum tier ack = tier_of(PROFILE_ACK, &tiers[i].f);
		enum tier koordinator = tier_of(PROFILE_KOORDINATOR, &tiers[i].f);
		if (ack != tiers[i].ack || koordinator != tiers[i].koordinator)
			print_error("%s: ack %s, koordinator %s\n", tiers[i].name, names[ack],
				names[koordinator]);
		assert_true(ack == tiers[i].ack && koordinator == tiers[i].koordinator);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(who_is_low)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
