/* RunPolicies, PricePlans and Budgets as admins write them: what each field becomes, and what is
 * said of one that makes no sense. */
#include "wire.h"

#include "controller/wire/decode.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define HOUR INT64_C(3600000)

static struct err said;

/* A record of that kind from this spec, or NULL; the caller's. */
static void *decoded(const char *kind, const char *spec)
{
	struct buf b;
	void *ret = NULL;
	int rc = 0;
	buf_init(&b, 1 << 20);
	buf_printf(&b,
		"{'kind':'%s','metadata':{'name':'x','generation':3,'deletionTimestamp':'now'},"
		"'spec':{%s}}",
		kind, spec);
	const cJSON *o = parsed(buf_text(&b));
	buf_done(&b);
	said = (struct err){""};
	if (strcmp(kind, "RunPolicy") == 0)
		rc = decode_runpolicy(o, (struct runpolicy_spec **)&ret, &said);
	else if (strcmp(kind, "PricePlan") == 0)
		rc = decode_priceplan(o, (struct priceplan_spec **)&ret, &said);
	else
		rc = decode_budget(o, (struct budget_spec **)&ret, &said);
	assert_true(rc == (ret ? 0 : ERR_INVALID));
	return ret;
}

static void *taken(const char *kind, const char *spec)
{
	void *ret = decoded(kind, spec);
	if (!ret)
		fail_msg("%s", said.text);
	return ret;
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

static void a_whole_runpolicy(void **state)
{
	(void)state;
	struct runpolicy_spec *s = taken("RunPolicy",
		"'queues':['batch','sim-*'],'localQueues':['team-a/*','*/night?'],'calendar':"
		"'nights',"
		"'start':{'fit':'Require','unknownDuration':'Hold','safetyMargin':'12.5%'},"
		"'atClose':{'action':'Suspend','overrun':'30m','notice':'1h30m','minRun':'900s',"
		"'maxSuspensions':3,'exempt':{'priorityAtLeast':-5,'selector':{'matchLabels':{"
		"'tier':'gold'}}}},'atPriceRise':'Suspend','leadTime':'20m',"
		"'quota':[{'window':'night','flavor':'default','resource':'cpu','nominal':2000,"
		"'borrowingLimit':'500'},{'window':'day','flavor':'default','resource':'memory',"
		"'nominal':'1Gi','lendingLimit':0}]");
	assert_string_equal(s->name, "x");
	assert_true(s->generation == 3 && s->deleting);
	assert_true(s->nqueues == 2 && s->nlocalqueues == 2);
	assert_string_equal(s->queues[1], "sim-*");
	assert_string_equal(s->localqueues[1], "*/night?");
	assert_string_equal(s->calendar, "nights");
	assert_true(s->fit == FIT_REQUIRE && s->hold_unknown && s->margin_permille == 125);
	assert_true(s->action == CLOSE_SUSPEND && s->at_price_rise == CLOSE_SUSPEND);
	assert_true(s->overrun_ms == HOUR / 2 && s->notice_ms == HOUR * 3 / 2);
	assert_true(s->min_run_ms == HOUR / 4 && s->lead_ms == HOUR / 3);
	assert_int_equal(s->max_suspensions, 3);
	assert_true(s->has_exempt_priority && s->exempt_priority == -5);
	assert_true(s->has_exempt_selector && s->exempt_selector.nrequirements == 1);
	assert_int_equal(s->nquotas, 2);
	assert_string_equal(s->quota[0].window, "night");
	assert_true(s->quota[0].nominal == 2000000 && s->quota[0].has_borrowing);
	assert_true(s->quota[0].borrowing_limit == 500000 && !s->quota[0].has_lending);
	assert_true(s->quota[1].nominal == INT64_C(1) << 30 && s->quota[1].has_lending);
	assert_true(s->quota[1].lending_limit == 0 && !s->quota[1].has_borrowing);
	free(s);
}

static void a_runpolicy_of_defaults(void **state)
{
	(void)state;
	struct runpolicy_spec *s =
		taken("RunPolicy", "'localQueues':['a/b'],'calendar':'nights','atClose':{"
				   "'notice':'0s'}");
	assert_true(s->fit == FIT_PREFER && !s->hold_unknown && s->margin_permille == 0);
	assert_true(s->action == CLOSE_FINISH && s->at_price_rise == CLOSE_FINISH);
	assert_true(s->overrun_ms + s->notice_ms + s->min_run_ms + s->lead_ms == 0);
	assert_int_equal(s->max_suspensions, RUNPOLICY_SUSPENSIONS_UNLIMITED);
	assert_false(s->has_exempt_priority || s->has_exempt_selector);
	assert_int_equal(s->nquotas, 0);
	free(s);
}

static void a_whole_priceplan(void **state)
{
	(void)state;
	struct priceplan_spec *s = taken("PricePlan",
		"'currency':'EUR','queues':['batch'],'base':{'cpu':'0.040','memory-gib':'0.005',"
		"'nvidia.com/gpu':'2.10','hugepages-2Mi-gib':'1'},'flavors':{'spot':'0.3'},"
		"'rates':[{'calendar':'nights','window':'night','factor':'0.6'},"
		"{'calendar':'peak','factor':'2.5'}],'series':{'configMap':'day-ahead','key':"
		"'prices','reference':'80.5','staleAfter':'24h','whenStale':'HoldStarts'}");
	assert_string_equal(s->currency, "EUR");
	assert_int_equal(s->nqueues, 1);
	assert_int_equal(s->nbases, 4);
	assert_string_equal(s->base[0].resource, "cpu");
	assert_true(s->base[0].per_hour == 40000 && !s->base[0].per_gib);
	assert_string_equal(s->base[1].resource, "memory");
	assert_true(s->base[1].per_hour == 5000 && s->base[1].per_gib);
	assert_string_equal(s->base[2].resource, "nvidia.com/gpu");
	assert_string_equal(s->base[3].resource, "hugepages-2Mi");
	assert_int_equal(s->nflavors, 1);
	assert_string_equal(s->flavor[0].flavor, "spot");
	assert_int_equal(s->flavor[0].factor, 300000);
	assert_int_equal(s->nrates, 2);
	assert_string_equal(s->rate[0].calendar, "nights");
	assert_string_equal(s->rate[0].window, "night");
	assert_int_equal(s->rate[0].factor, 600000);
	assert_string_equal(s->rate[1].window, "");
	assert_int_equal(s->rate[1].factor, 2500000);
	assert_true(s->has_series && s->nseries == 0 && s->hold_when_stale);
	assert_string_equal(s->series_configmap, "day-ahead");
	assert_string_equal(s->series_key, "prices");
	assert_int_equal(s->series_reference, 80500000);
	assert_int_equal(s->stale_after_ms, 24 * HOUR);
	free(s);
}

static void a_priceplan_of_defaults(void **state)
{
	(void)state;
	struct priceplan_spec *s = taken("PricePlan", "'currency':'EUR','base':{'cpu':'1'}");
	assert_false(s->has_series);
	assert_int_equal(s->nqueues + s->nflavors + s->nrates, 0);
	free(s);
	s = taken("PricePlan",
		"'currency':'gCO2','base':{'cpu':'1'},'series':{'configMap':'a','key':'b'}");
	assert_true(s->has_series && !s->hold_when_stale && s->series_reference == 1000000);
	assert_int_equal(s->stale_after_ms, 36 * HOUR);
	free(s);
}

static void whole_budgets(void **state)
{
	(void)state;
	struct budget_spec *s = taken("Budget",
		"'queue':'batch','period':'Weekly','timeZone':'Europe/Berlin','currency':'EUR',"
		"'amount':'5000.00','charge':'Actual','onExhausted':'Warn'");
	assert_string_equal(s->clusterqueue, "batch");
	assert_string_equal(s->localqueue_ns, "");
	assert_string_equal(s->localqueue, "");
	assert_string_equal(s->time_zone, "Europe/Berlin");
	assert_null(s->zone);
	assert_string_equal(s->currency, "EUR");
	assert_int_equal(s->amount, INT64_C(5000000000));
	assert_true(s->period == PERIOD_WEEKLY && s->charge == CHARGE_ACTUAL);
	assert_true(s->on_exhausted == EXHAUSTED_WARN);
	free(s);
	s = taken("Budget",
		"'localQueue':'team-a/batch','period':'Yearly','timeZone':'UTC','currency':'EUR',"
		"'amount':'0'");
	assert_string_equal(s->clusterqueue, "");
	assert_string_equal(s->localqueue_ns, "team-a");
	assert_string_equal(s->localqueue, "batch");
	assert_true(s->period == PERIOD_YEARLY && s->charge == CHARGE_EXPECTED);
	assert_true(s->on_exhausted == EXHAUSTED_HOLD && s->amount == 0);
	free(s);
}

/* ---- what is said ---------------------------------------------------------------------------- */

#define POLICY(rest) "'queues':['a'],'calendar':'c'," rest
#define CLOSE(rest) POLICY("'atClose':{" rest "}")
#define QUOTA(rest) POLICY("'quota':[{'window':'w','flavor':'f','resource':'cpu'," rest "}]")
#define PLAN(rest) "'currency':'EUR','base':{'cpu':'1'}," rest
#define BASE(rest) "'currency':'EUR','base':{" rest "}"
#define SERIES(rest) PLAN("'series':{'configMap':'a','key':'b'," rest "}")
#define BUDGET(rest) "'period':'Daily','timeZone':'UTC','currency':'EUR','amount':'1'," rest

static const struct bad_row {
	const char *kind, *spec, *says;
} bad_rows[] = {
	{"RunPolicy", "'calendar':'c'",
		"spec: names no queue; write queues, e.g. [batch, sim-*], or localQueues"},
	{"RunPolicy", "'queues':[],'localQueues':[],'calendar':'c'", "spec: names no queue"},
	{"RunPolicy", "'queues':'a','calendar':'c'", "spec.queues: must be a list"},
	{"RunPolicy", "'queues':['a',7],'calendar':'c'",
		"spec.queues[1]: must be the name of a ClusterQueue, e.g. batch or sim-*"},
	{"RunPolicy", "'queues':['a b'],'calendar':'c'",
		"spec.queues[0]: \"a b\" must be the name of a ClusterQueue"},
	{"RunPolicy", "'queues':['team-a/x'],'calendar':'c'",
		"spec.queues[0]: \"team-a/x\" must be the name of a ClusterQueue"},
	{"RunPolicy", "'localQueues':['batch'],'calendar':'c'",
		"spec.localQueues[0]: \"batch\" must be namespace/name of a LocalQueue"},
	{"RunPolicy", "'localQueues':['a/b/c'],'calendar':'c'", "spec.localQueues[0]: \"a/b/c\""},
	{"RunPolicy", "'localQueues':['/c'],'calendar':'c'", "spec.localQueues[0]: \"/c\""},
	{"RunPolicy", "'queues':['a']", "spec.calendar: is missing; write e.g. nights"},
	{"RunPolicy", POLICY("'start':{'fit':'Maybe'}"),
		"spec.start.fit: \"Maybe\" is unknown; write Prefer, Require or Ignore"},
	{"RunPolicy", POLICY("'start':{'unknownDuration':'Stop'}"),
		"spec.start.unknownDuration: \"Stop\" is unknown; write Start or Hold"},
	{"RunPolicy", POLICY("'start':{'safetyMargin':'10'}"),
		"spec.start.safetyMargin: \"10\" is not a share from 0% to 1000%; write e.g. 10%"},
	{"RunPolicy", POLICY("'start':{'safetyMargin':'-1%'}"), "spec.start.safetyMargin: \"-1%\""},
	{"RunPolicy", POLICY("'start':{'safetyMargin':'%'}"), "spec.start.safetyMargin: \"%\""},
	{"RunPolicy", POLICY("'start':{'safetyMargin':'1000.1%'}"),
		"spec.start.safetyMargin: \"1000.1%\""},
	{"RunPolicy", POLICY("'start':{'safetyMargin':'99999999999%'}"),
		"spec.start.safetyMargin: \"99999999999%\""},
	{"RunPolicy", POLICY("'start':{'safetyMargin':10}"),
		"spec.start.safetyMargin: must be a string"},
	{"RunPolicy", CLOSE("'action':'Kill'"),
		"spec.atClose.action: \"Kill\" is unknown; write Finish or Suspend"},
	{"RunPolicy", CLOSE("'overrun':'1y'"),
		"spec.atClose.overrun: \"1y\" is not a duration; write hours, minutes and seconds "
		"with their units, such as 30m, 1h30m or 36h"},
	{"RunPolicy", CLOSE("'notice':'10'"),
		"spec.atClose.notice: \"10\" is not a duration; write hours"},
	{"RunPolicy", CLOSE("'notice':10"), "spec.atClose.notice: must be a string"},
	{"RunPolicy", CLOSE("'notice':''"), "spec.atClose.notice: \"\" is not a duration"},
	{"RunPolicy", CLOSE("'minRun':'-15m'"), "spec.atClose.minRun: \"-15m\" is not a duration"},
	{"RunPolicy", CLOSE("'minRun':'745h'"),
		"spec.atClose.minRun: \"745h\" is too long; at most 744h is supported"},
	{"RunPolicy", CLOSE("'maxSuspensions':-1"),
		"spec.atClose.maxSuspensions: must be a whole number from 0"},
	{"RunPolicy", CLOSE("'exempt':{}"), "spec.atClose.exempt: exempts no Job"},
	{"RunPolicy", CLOSE("'exempt':{'priorityAtLeast':'high'}"),
		"spec.atClose.exempt.priorityAtLeast: must be a whole number"},
	{"RunPolicy",
		CLOSE("'exempt':{'selector':{'matchExpressions':[{'key':'a','operator':"
		      "'Like'}]}}"),
		"spec.atClose.exempt.selector.matchExpressions[0].operator: \"Like\" is unknown"},
	{"RunPolicy", POLICY("'atPriceRise':'Pay'"),
		"spec.atPriceRise: \"Pay\" is unknown; write Finish or Suspend"},
	{"RunPolicy", POLICY("'leadTime':'a while'"),
		"spec.leadTime: \"a while\" is not a duration"},
	{"RunPolicy", POLICY("'quota':[{}]"), "spec.quota[0].window: is missing; write e.g. night"},
	{"RunPolicy", QUOTA("'nominal':'lots'"),
		"spec.quota[0].nominal: \"lots\" is not a quantity"},
	{"RunPolicy", QUOTA("'borrowingLimit':1"), "spec.quota[0].nominal: is missing"},
	{"RunPolicy", QUOTA("'nominal':1,'lendingLimit':'1001m'"),
		"spec.quota[0].lendingLimit: is more than nominal"},
	{"RunPolicy",
		POLICY("'quota':[{'window':'w','flavor':'f','resource':'cpu','nominal':1},"
		       "{'window':'w','flavor':'f','resource':'cpu','nominal':2}]"),
		"spec.quota[1]: has window, flavor and resource of quota[0]; remove one of them"},
	{"RunPolicy",
		"'localQueues':['a/b'],'calendar':'c','quota':[{'window':'w','flavor':'f',"
		"'resource':'cpu','nominal':1}]",
		"spec.quota: is that of ClusterQueues, and none is named"},

	{"PricePlan", "'base':{'cpu':'1'}",
		"spec.currency: \"\" is not the name of a currency; write 3 to 16 letters or "
		"digits, such as EUR"},
	{"PricePlan", "'currency':'EU','base':{'cpu':'1'}", "spec.currency: \"EU\""},
	{"PricePlan", "'currency':'E U R','base':{'cpu':'1'}", "spec.currency: \"E U R\""},
	{"PricePlan", "'currency':'EUR'", "spec.base: names no price; write that of a unit"},
	{"PricePlan", BASE("'memory':'1'"),
		"spec.base.memory: \"memory\" has no price of its own, for a byte costs next to "
		"nothing; write the price of a GiB, as memory-gib"},
	{"PricePlan", BASE("'hugepages-2Mi':'1'"),
		"spec.base.hugepages-2Mi: \"hugepages-2Mi\" has no price of its own, for a byte "
		"costs next to nothing; write the price of a GiB, as hugepages-2Mi-gib"},
	{"PricePlan", BASE("'cpu-gib':'1'"),
		"spec.base.cpu-gib: \"cpu-gib\" is not a resource; write cpu"},
	{"PricePlan", BASE("'cpu':0.04"),
		"spec.base.cpu: must be a string; write it in quotes, e.g. \"0.040\""},
	{"PricePlan", BASE("'cpu':'-1'"), "spec.base.cpu: \"-1\" is not a price; write digits"},
	{"PricePlan", BASE("'cpu':'0.0000001'"), "spec.base.cpu: \"0.0000001\" is not a price"},
	{"PricePlan", BASE("'cpu':'1e3'"), "spec.base.cpu: \"1e3\" is not a price"},
	{"PricePlan", BASE("'cpu':'1000000000.000001'"),
		"spec.base.cpu: \"1000000000.000001\" is too much; at most 1000000000"},
	{"PricePlan", BASE("'cpu':'99999999999999999999'"),
		"spec.base.cpu: \"99999999999999999999\" is too much"},
	{"PricePlan", PLAN("'queues':['*!']"), "spec.queues[0]: \"*!\" must be the name"},
	{"PricePlan", PLAN("'flavors':{'spot':'1/3'}"),
		"spec.flavors.spot: \"1/3\" is not a factor; write digits"},
	{"PricePlan", PLAN("'flavors':{'spot':'1001'}"),
		"spec.flavors.spot: \"1001\" is too much; at most 1000 is supported"},
	{"PricePlan", PLAN("'flavors':{'spot':0.3}"),
		"spec.flavors.spot: must be a string; write it in quotes, e.g. \"0.6\""},
	{"PricePlan", PLAN("'rates':[{'factor':'2'}]"), "spec.rates[0].calendar: is missing"},
	{"PricePlan", PLAN("'rates':[{'calendar':'peak'}]"),
		"spec.rates[0].factor: is missing; write e.g. \"0.6\""},
	{"PricePlan", PLAN("'rates':[{'calendar':'peak','factor':'double'}]"),
		"spec.rates[0].factor: \"double\" is not a factor"},
	{"PricePlan", PLAN("'rates':[7]"), "spec.rates[0]: must be an object"},
	{"PricePlan", PLAN("'series':{'key':'b'}"), "spec.series.configMap: is missing"},
	{"PricePlan", SERIES("'reference':'0.000'"),
		"spec.series.reference: must be more than 0, for the values of the series are "
		"divided by it"},
	{"PricePlan", SERIES("'reference':'-1'"), "spec.series.reference: \"-1\" is not a price"},
	{"PricePlan", SERIES("'staleAfter':'1y'"),
		"spec.series.staleAfter: \"1y\" is not a duration"},
	{"PricePlan", SERIES("'staleAfter':'8785h'"),
		"spec.series.staleAfter: \"8785h\" is too long; at most 8784h is supported"},
	{"PricePlan", SERIES("'whenStale':'Panic'"),
		"spec.series.whenStale: \"Panic\" is unknown; write UseRates or HoldStarts"},

	{"Budget", BUDGET("'x':1"), "spec: names no queue; write queue, e.g. batch"},
	{"Budget", BUDGET("'queue':'a','localQueue':'b/c'"),
		"spec: has both queue and localQueue; make a Budget of each"},
	{"Budget", BUDGET("'localQueue':'batch'"),
		"spec.localQueue: \"batch\" is not namespace/name; write e.g. team-a/batch"},
	{"Budget", BUDGET("'localQueue':'a/b/c'"), "spec.localQueue: \"a/b/c\" is not"},
	{"Budget", "'queue':'a','timeZone':'UTC','currency':'EUR','amount':'1'",
		"spec.period: is missing; write Daily, Weekly, Monthly or Yearly"},
	{"Budget", "'queue':'a','period':'Hourly','timeZone':'UTC','currency':'EUR','amount':'1'",
		"spec.period: \"Hourly\" is unknown; write Daily, Weekly, Monthly or Yearly"},
	{"Budget", "'queue':'a','period':'Daily','currency':'EUR','amount':'1'",
		"spec.timeZone: is missing; write e.g. Europe/Berlin, or UTC"},
	{"Budget", "'queue':'a','period':'Daily','timeZone':'UTC','amount':'1','currency':''",
		"spec.currency:"},
	{"Budget", "'queue':'a','period':'Daily','timeZone':'UTC','currency':'EUR'",
		"spec.amount: is missing; write e.g. \"5000.00\""},
	{"Budget", "'queue':'a','period':'Daily','timeZone':'UTC','currency':'EUR','amount':5000",
		"spec.amount: must be a string; write it in quotes, e.g. \"5000.00\""},
	{"Budget",
		"'queue':'a','period':'Daily','timeZone':'UTC','currency':'EUR','amount':'5,000'",
		"spec.amount: \"5,000\" is not an amount of money"},
	{"Budget", BUDGET("'queue':'a','charge':'Half'"),
		"spec.charge: \"Half\" is unknown; write Expected or Actual"},
	{"Budget", BUDGET("'queue':'a','onExhausted':'Explode'"),
		"spec.onExhausted: \"Explode\" is unknown; write Hold, Suspend or Warn"},
};

static void sentences_name_object_field_and_cure(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_rows); i++) {
		const struct bad_row *r = &bad_rows[i];
		char want[512];
		if (decoded(r->kind, r->spec))
			fail_msg("taken: %s %s", r->kind, r->spec);
		snprintf(want, sizeof(want), "%s x: %s", r->kind, r->says);
		if (strncmp(said.text, want, strlen(want)) != 0)
			fail_msg("%s %s\nsays   %s\nwanted %s", r->kind, r->spec, said.text, want);
	}
}

static void other_kinds_are_not_taken_for_them(void **state)
{
	(void)state;
	const cJSON *o = parsed("{'kind':'Job','metadata':{'name':'a'}}");
	assert_int_equal(decode_runpolicy(o, &(struct runpolicy_spec *){NULL}, NULL), ERR_INVALID);
	assert_int_equal(decode_priceplan(o, &(struct priceplan_spec *){NULL}, NULL), ERR_INVALID);
	assert_int_equal(decode_budget(o, &(struct budget_spec *){NULL}, NULL), ERR_INVALID);
	assert_int_equal(decode_budget(NULL, &(struct budget_spec *){NULL}, NULL), ERR_INVALID);
}

/* More than the decoder's guess: decoded twice, into a block of the right size. */
static void as_many_as_allowed(void **state)
{
	struct buf b;
	(void)state;
	buf_init(&b, 1 << 20);
	buf_puts(&b, "'queues':['a'],'calendar':'c','quota':[");
	for (int i = 0; i < POLICY_LIST_MAX; i++)
		buf_printf(&b, "%s{'window':'w%d','flavor':'f','resource':'cpu','nominal':%d}",
			i ? "," : "", i, i);
	buf_putc(&b, ']');
	struct runpolicy_spec *s = taken("RunPolicy", buf_text(&b));
	assert_int_equal(s->nquotas, 64);
	assert_string_equal(s->quota[63].window, "w63");
	assert_int_equal(s->quota[63].nominal, 63000);
	free(s);
	buf_reset(&b);
	buf_puts(&b, "'calendar':'c','queues':[");
	for (int i = 0; i <= POLICY_LIST_MAX; i++)
		buf_printf(&b, "%s'q%d'", i ? "," : "", i);
	buf_putc(&b, ']');
	assert_null(decoded("RunPolicy", buf_text(&b)));
	assert_string_equal(
		said.text, "RunPolicy x: spec.queues: has 65 items; at most 64 are supported");
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_runpolicy),
		cmocka_unit_test(a_runpolicy_of_defaults),
		cmocka_unit_test(a_whole_priceplan),
		cmocka_unit_test(a_priceplan_of_defaults),
		cmocka_unit_test(whole_budgets),
		cmocka_unit_test(sentences_name_object_field_and_cure),
		cmocka_unit_test(other_kinds_are_not_taken_for_them),
		cmocka_unit_test(as_many_as_allowed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
