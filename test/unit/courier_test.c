/*
 * What an answer of the API server means for the gate, as a table.
 */
#include "controller/courier.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct judge_case {
	const char *name;
	enum kube_outcome outcome;
	int status;
	bool is_write, is_invalid, is_rights;
	enum job_outcome means;
};

static const struct judge_case cases[] = {
	{"it landed", KUBE_DONE, 200, true, false, false, JOB_DONE},
	{"it was read", KUBE_DONE, 200, false, false, false, JOB_DONE},
	{"429", KUBE_RETRY, 429, true, false, false, JOB_BUSY},
	{"no connection", KUBE_RETRY, 0, true, false, false, JOB_BUSY},
	{"409", KUBE_CONFLICT, 409, true, false, false, JOB_REFUSED},
	{"a test of the patch failed", KUBE_STALE, 422, true, false, false, JOB_REFUSED},
	{"the Job would be invalid", KUBE_STALE, 422, true, true, false, JOB_DENIED},
	{"404", KUBE_GONE, 404, true, false, false, JOB_GONE},
	{"a policy says no", KUBE_DENIED, 403, true, false, false, JOB_DENIED},
	{"RBAC says no: not the Job's fault", KUBE_DENIED, 403, true, false, true, JOB_BUSY},
	{"401: nor is this", KUBE_DENIED, 401, true, false, false, JOB_BUSY},
	{"a peer that is not trusted: nor this", KUBE_DENIED, 0, true, false, false, JOB_BUSY},
	{"a write without an answer", KUBE_IN_DOUBT, 0, true, false, false, JOB_IN_DOUBT},
	{"500 for a write", KUBE_IN_DOUBT, 500, true, false, false, JOB_IN_DOUBT},
	{"a read never is in doubt", KUBE_IN_DOUBT, 0, false, false, false, JOB_BUSY},
	{"a read that is too large", KUBE_LIMIT, 200, false, false, false, JOB_BUSY},
	{"400", KUBE_GIVE_UP, 400, true, false, false, JOB_DENIED},
};

static void each_answer_has_one_meaning(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct judge_case *c = &cases[i];
		struct kube_answer a = {.outcome = c->outcome, .http_status = c->status};
		print_message("  %s\n", c->name);
		assert_int_equal(
			courier_judge(&a, c->is_write, c->is_invalid, c->is_rights), c->means);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_answer_has_one_meaning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
