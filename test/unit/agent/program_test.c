/* The command line of sluice-node, and the orders that it keeps on disk. */
#include "../kube/test.h"

#include "agent/options.h"
#include "agent/orders_file.h"

static int parse(struct node_options *ret, struct err *e, const char *a, const char *b)
{
	char *argv[] = {(char[]){"sluice-node"}, (char *)(uintptr_t)a, (char *)(uintptr_t)b, NULL};
	return node_options_parse(b ? 3 : a ? 2 : 1, argv, ret, e);
}

static void flags(void **state)
{
	static const struct {
		const char *a, *b;
		int code;
		const char *says; /* of the sentence */
	} table[] = {
		{NULL, NULL, 0, NULL},
		{"--lift", NULL, 0, NULL},
		{"--tier=kubepods/besteffort", "--lift", 0, NULL},
		{"--state-dir", "/x", 0, NULL},
		{"--help", NULL, FLAGS_HELP, NULL},
		{"--version", NULL, FLAGS_VERSION, NULL},
		{"--tier", "", ERR_INVALID, "--tier"},
		{"--namespace", "A/b", ERR_INVALID, "--namespace"},
		{"--log-level", "loud", ERR_INVALID, "--log-level"},
		{"--port", "80", ERR_INVALID, "--port"},
		{"lift", NULL, ERR_INVALID, "\"lift\""},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(table); i++) {
		struct node_options o;
		struct err e = {""};
		int rc = parse(&o, &e, table[i].a, table[i].b);
		if (rc != table[i].code || (table[i].says && !strstr(e.text, table[i].says)))
			fail_msg("%s: %d, %s", table[i].a, rc, e.text);
	}
}

static void defaults(void **state)
{
	struct node_options o;
	struct err e = {""};
	(void)state;
	assert_int_equal(parse(&o, &e, NULL, NULL), 0);
	assert_string_equal(o.cgroups, "/sys/fs/cgroup");
	assert_string_equal(o.namespace_name, "sluice-system");
	assert_string_equal(o.token_file, "/var/run/secrets/sluice-node/token");
	assert_null(o.tier);
	assert_null(o.state_dir);
	assert_false(o.lift);
}

static void each_flag_is_in_the_help(void **state)
{
	char flag[64];
	(void)state;
	assert_int_equal(NODE_HELP_COUNT, 1);
	for (size_t i = 0; i < node_options_flags.count; i++) {
		snprintf(flag, sizeof(flag), "--%s", node_options_flags.flag[i].name);
		if (!strstr(NODE_HELP[0].text, flag))
			fail_msg("%s is not in the help", flag);
	}
}

static void orders_are_kept_whole(void **state)
{
	char *dir = make_dir(), path[300];
	struct orders *o;
	struct err e = {""};
	(void)state;
	assert_int_equal(orders_file_read(dir, &o, &e), ERR_GONE);
	assert_int_equal(orders_file_keep(dir, slice_of("{\"generation\":5}"), &e), 0);
	assert_int_equal(
		orders_file_keep(dir, slice_of("{\"generation\":6,\"lends\":true}"), &e), 0);
	assert_int_equal(orders_file_read(dir, &o, &e), 0);
	assert_int_equal(o->generation, 6);
	orders_free(o);
	/* A file that was begun, and never took the place of the other. */
	write_file(dir, "orders.json.new", "{\"gener", 0600);
	assert_int_equal(orders_file_read(dir, &o, &e), 0);
	assert_int_equal(o->generation, 6);
	orders_free(o);
	/* What somebody else wrote there is no orders. */
	write_file(dir, "orders.json", "{\"generation\":", 0600);
	assert_int_equal(orders_file_read(dir, &o, &e), ERR_INVALID);
	snprintf(path, sizeof(path), "%s/orders.json", dir);
	assert_non_null(strstr(e.text, path));
	snprintf(path, sizeof(path), "truncate -s %d %s/orders.json", ORDERS_BYTES_MAX + 1, dir);
	assert_int_equal(system(path), 0);
	assert_int_equal(orders_file_read(dir, &o, &e), ERR_INVALID);
	remove_dir(dir);
	assert_int_equal(orders_file_keep("/nowhere", slice_of("{}"), &e), ERR_BUSY);
	assert_non_null(strstr(e.text, "/nowhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags),
		cmocka_unit_test(defaults),
		cmocka_unit_test(each_flag_is_in_the_help),
		cmocka_unit_test(orders_are_kept_whole),
	};
	return cmocka_run_group_tests_name("agent/program", tests, NULL, NULL);
}
