/* Does a cluster-autoscaler work? Its ConfigMap outlives it. */
#include "controller/watch/autoscaler_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/json.h"
#include "test/unit/queue/worlds.h"

#define T0 INT64_C(1000)

static struct queue *q;
static struct autoscaler_status status;

static int open_status(void **state)
{
	(void)state;
	q = fixture_new(10, 0);
	autoscaler_status_init(&status, q);
	return 0;
}

static int close_status(void **state)
{
	(void)state;
	queue_free(q);
	return 0;
}

static void see(const char *version)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(cJSON_AddObjectToObject(o, "metadata"), "resourceVersion", version);
	autoscaler_status_see(&status, o);
	cJSON_Delete(o);
}

static bool works(void)
{
	return queue_flavor_maker(q, "spot") != NULL;
}

static void one_that_is_gone_is_not_believed(void **state)
{
	(void)state;
	see("7");
	assert_false(works());
	autoscaler_status_tick(&status, T0);
	see("7"); /* listed once more */
	assert_false(works());
}

static void it_works_while_the_object_changes(void **state)
{
	(void)state;
	see("7");
	see("8");
	assert_true(works());
	assert_false(autoscaler_status_tick(&status, T0));
	assert_false(autoscaler_status_tick(&status, T0 + AUTOSCALER_SILENCE_MS - 1));
	assert_true(works());
	assert_true(autoscaler_status_tick(&status, T0 + AUTOSCALER_SILENCE_MS));
	assert_false(works());
	see("9");
	assert_true(works());
}

static void without_the_object_there_is_none(void **state)
{
	(void)state;
	see("7");
	see("8");
	autoscaler_status_lose(&status);
	assert_false(works());
	see("9"); /* another object */
	assert_false(works());
	see("10");
	assert_true(works());
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_status, close_status)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_that_is_gone_is_not_believed),
		TEST(it_works_while_the_object_changes),
		TEST(without_the_object_there_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
