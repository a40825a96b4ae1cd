/* What makes nodes: NodePools of Karpenter, and the ProvisioningRequests that an autoscaler answers. */
#include "wire.h"

#include "controller/wire/decode.h"
#include "controller/wire/decode_provision.h"
#include "controller/wire/provision_body.h"

#define UID "123e4567-e89b-12d3-a456-426614174000"
#define CONDITION(type, status, message)                                                           \
	"{'type':'" type "','status':'" status "','message':'" message "'}"

static const struct {
	const char *conditions;
	enum provision_state state;
	const char *message;
} said[] = {
	{"", PROVISION_ASKED, ""},
	{CONDITION("Accepted", "True", "a"), PROVISION_ASKED, ""},
	{CONDITION("Accepted", "True", "a") "," CONDITION("Provisioned", "False", "no room"),
		PROVISION_ASKED, "no room"},
	{CONDITION("Provisioned", "True", "there"), PROVISION_PROVISIONED, "there"},
	{CONDITION("Failed", "False", "x") "," CONDITION("Provisioned", "True", "there"),
		PROVISION_PROVISIONED, "there"},
	{CONDITION("Provisioned", "False", "x") "," CONDITION("Failed", "True", "never"),
		PROVISION_FAILED, "never"},
	{CONDITION("Provisioned", "True", "x") "," CONDITION("BookingExpired", "True", "late"),
		PROVISION_EXPIRED, "late"},
	{CONDITION("Provisioned", "True", "x") "," CONDITION(
		 "BookingExpired", "True", "y") "," CONDITION("CapacityRevoked", "True", "gone"),
		PROVISION_REVOKED, "gone"},
	{"{'type':'Provisioned','status':true},7,{'status':'True'}", PROVISION_ASKED, ""},
};

static void its_conditions_are_one_state(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		struct provision_fact f;
		struct buf b;
		buf_init(&b, 4096);
		buf_printf(&b,
			"{'metadata':{'name':'sluice-" UID
			"-12','namespace':'a','annotations':{'sluice.dev/asks-for':'00ff00ff00ff00ff'}},"
			"'status':{'conditions':[%s]}}",
			said[i].conditions);
		assert_true(decode_provision(parsed(buf_text(&b)), &f));
		buf_done(&b);
		assert_string_equal(f.ns, "a");
		assert_int_equal(f.number, 12);
		assert_true(f.key == UINT64_C(0x00ff00ff00ff00ff));
		assert_int_equal(f.state, said[i].state);
		assert_string_equal(f.message, said[i].message);
	}
}

static void what_is_not_ours_is_no_fact(void **state)
{
	static const char *const name[] = {"", "train", "sluice-", "sluice-" UID, "sluice-" UID "-",
		"sluice-" UID "-x", "sluice-" UID "-99999999999", "sluice-123e4567-e89b-1",
		"sluice-123e4567-e89b-12d3-a456-42661417400z-1"};
	struct uid uid;
	int32_t number;
	(void)state;
	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		if (provision_name_parse(name[i], &uid, &number))
			fail_msg("%s", name[i]);
	assert_true(provision_name_parse("sluice-" UID "-3", &uid, &number));
	assert_int_equal(number, 3);
}

static void a_request_is_what_is_read_back(void **state)
{
	static const struct label parameters[] = {{"ValidUntilSeconds", "6\"00"}};
	struct intent i = {.kind = INTENT_PROVISION,
		.ns = "a",
		.name = "train",
		.provision = {.name = "sluice-" UID "-4",
			.class_name = "check-capacity.autoscaling.x-k8s.io",
			.parameters = parameters,
			.nparameters = 1,
			.pods = 3,
			.key = 0xabc}};
	struct provision_fact f;
	struct buf b;
	(void)state;
	assert_true(uid_parse(UID, &i.uid));
	buf_init(&b, 1 << 16);
	provision_request_body(&i, &b);
	const cJSON *o = parsed(buf_text(&b));
	const cJSON *spec = json_object(o, "spec");
	assert_true(decode_provision(o, &f));
	assert_true(uid_cmp(&f.job, &i.uid) == 0);
	assert_int_equal(f.key, 0xabc);
	assert_int_equal(f.number, 4);
	assert_string_equal(
		json_text(json_object(spec, "parameters"), "ValidUntilSeconds"), "6\"00");
	buf_reset(&b);
	struct json_writer w = provision_template_begin(&i, &b);
	provision_template_end(&w, slice_of("{\"spec\":{\"restartPolicy\":\"Never\"}}"));
	o = parsed(buf_text(&b));
	assert_string_equal(json_text(o, "kind"), "PodTemplate");
	assert_string_equal(
		json_text(json_object(json_object(o, "template"), "spec"), "restartPolicy"),
		"Never");
	buf_done(&b);
}

static struct made_nodes_spec *made(const char *spec)
{
	struct made_nodes_spec *s = NULL;
	struct err e = {""};
	struct buf b;
	buf_init(&b, 1 << 16);
	buf_printf(&b, "{'kind':'NodePool','metadata':{'name':'gpu'},'spec':%s}", spec);
	if (decode_made_nodes(parsed(buf_text(&b)), &s, &e) != 0)
		fail_msg("%s", e.text);
	buf_done(&b);
	return s;
}

static void a_nodepool_says_which_nodes_it_makes(void **state)
{
	(void)state;
	struct made_nodes_spec *s = made(
		"{'template':{'metadata':{'labels':{'pool':'gpu'}},'spec':{'nodeClassRef':{'kind':'X'},"
		"'requirements':[{'key':'arch','operator':'In','values':['amd64'],'minValues':1}]}}}");
	assert_string_equal(s->name, "gpu");
	assert_int_equal(s->nlabels, 1);
	assert_string_equal(s->labels[0].value, "gpu");
	assert_int_equal(s->requirements.nrequirements, 1);
	assert_string_equal(s->requirements.requirements[0].values[0], "amd64");
	free(s);
	s = made("{'replicas':3,'template':{'metadata':{'labels':{'pool':'gpu'}}}}");
	assert_null(s->name); /* always that many: none is made for pods */
	free(s);
}

static void provisioning_of_a_flavor(void **state)
{
	static const struct {
		const char *spec, *sentence;
	} bad[] = {
		{"{'provisioning':{}}", "spec.provisioning.className: is missing"},
		{"{'provisioning':{'className':'a','timeout':'soon'}}",
			"spec.provisioning.timeout: "},
		{"{'provisioning':{'className':'a','timeout':'0s'}}",
			"spec.provisioning.timeout: is less than a second; write e.g. 15m"},
		{"{'provisioning':{'className':'a'},'idlePool':{}}",
			"spec.provisioning: stands beside idlePool"},
	};
	struct flavor_spec *s = NULL;
	struct err e = {""};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct buf b;
		buf_init(&b, 4096);
		buf_printf(&b, "{'metadata':{'name':'spot'},'spec':%s}", bad[i].spec);
		assert_true(decode_flavor(parsed(buf_text(&b)), &s, &e) != 0);
		if (!strstr(e.text, bad[i].sentence))
			fail_msg("%s\nnot %s", e.text, bad[i].sentence);
		buf_done(&b);
	}
	assert_int_equal(
		decode_flavor(
			parsed("{'metadata':{'name':'spot'},'spec':{'provisioning':{'className':'a',"
			       "'parameters':{'b':'c'}}}}"),
			&s, &e),
		0);
	assert_string_equal(s->provisioning.class_name, "a");
	assert_int_equal(s->provisioning.nparameters, 1);
	assert_int_equal(s->provisioning.timeout_ms, 900000);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_conditions_are_one_state),
		cmocka_unit_test(what_is_not_ours_is_no_fact),
		cmocka_unit_test(a_request_is_what_is_read_back),
		cmocka_unit_test(a_nodepool_says_which_nodes_it_makes),
		cmocka_unit_test(provisioning_of_a_flavor),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
