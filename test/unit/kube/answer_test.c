#include "test.h"

#include <curl/curl.h>

#include "controller/kube/answer.h"
#include "controller/common/server_words.h"

#define NONE (-1)

/* What was seen, and what it means. One row for each thing a caller must tell apart. */
static const struct row {
	const char *name;
	enum kube_intent intent;
	int curl;
	bool sent, over;
	int status;
	int64_t after_ms;
	enum kube_outcome outcome;
	int64_t retry_after_ms;
	bool over_storage, in_admission;
} rows[] = {
	{"read, 200", KUBE_READ, 0, 1, 0, 200, NONE, KUBE_DONE, 0},
	{"write, 200", KUBE_WRITE, 0, 1, 0, 200, NONE, KUBE_DONE, 0},
	{"write, 201", KUBE_WRITE, 0, 1, 0, 201, NONE, KUBE_DONE, 0},
	{"write, 202", KUBE_WRITE, 0, 1, 0, 202, NONE, KUBE_DONE, 0},
	{"a Retry-After on 200 asks for nothing", KUBE_WRITE, 0, 1, 0, 200, 5000, KUBE_DONE, 0},
	{"watch ended well", KUBE_WATCH, 0, 1, 0, 200, NONE, KUBE_DONE, 0},
	{"watch cut", KUBE_WATCH, CURLE_PARTIAL_FILE, 1, 0, 200, NONE, KUBE_RETRY, 0},

	{"409", KUBE_WRITE, 0, 1, 0, 409, NONE, KUBE_CONFLICT, 0},
	{"422", KUBE_WRITE, 0, 1, 0, 422, NONE, KUBE_STALE, 0},
	{"404", KUBE_WRITE, 0, 1, 0, 404, NONE, KUBE_GONE, 0},
	{"410 of an object", KUBE_READ, 0, 1, 0, 410, NONE, KUBE_GONE, 0},
	{"410 of a watch", KUBE_WATCH, 0, 1, 0, 410, NONE, KUBE_RELIST, 0},
	{"401", KUBE_WRITE, 0, 1, 0, 401, NONE, KUBE_DENIED, 0},
	{"403", KUBE_WATCH, 0, 1, 0, 403, NONE, KUBE_DENIED, 0},
	{"400", KUBE_WRITE, 0, 1, 0, 400, NONE, KUBE_GIVE_UP, 0},
	{"405", KUBE_WRITE, 0, 1, 0, 405, NONE, KUBE_GIVE_UP, 0},
	{"413", KUBE_WRITE, 0, 1, 0, 413, NONE, KUBE_GIVE_UP, 0},
	{"415", KUBE_WRITE, 0, 1, 0, 415, NONE, KUBE_GIVE_UP, 0},
	{"302 is not followed", KUBE_WRITE, 0, 1, 0, 302, NONE, KUBE_GIVE_UP, 0},

	{"429 was not applied", KUBE_WRITE, 0, 1, 0, 429, 7000, KUBE_RETRY, 7000},
	{"429 without Retry-After", KUBE_WRITE, 0, 1, 0, 429, NONE, KUBE_RETRY, 1000},
	{"429 that asks for a day", KUBE_READ, 0, 1, 0, 429, 86400000, KUBE_RETRY, 300000},
	{"503 with Retry-After was not", KUBE_WRITE, 0, 1, 0, 503, 1000, KUBE_RETRY, 1000},
	{"503 with Retry-After: 0", KUBE_WRITE, 0, 1, 0, 503, 0, KUBE_RETRY, 0},
	{"503 of who knows whom", KUBE_WRITE, 0, 1, 0, 503, NONE, KUBE_IN_DOUBT, 0},
	{"503, read", KUBE_READ, 0, 1, 0, 503, NONE, KUBE_RETRY, 0},

	{"500, write", KUBE_WRITE, 0, 1, 0, 500, NONE, KUBE_IN_DOUBT, 0},
	{"500 with Retry-After, write", KUBE_WRITE, 0, 1, 0, 500, 2000, KUBE_IN_DOUBT, 2000},
	{"502, write", KUBE_WRITE, 0, 1, 0, 502, NONE, KUBE_IN_DOUBT, 0},
	{"504, write", KUBE_WRITE, 0, 1, 0, 504, NONE, KUBE_IN_DOUBT, 0},
	{"504, watch", KUBE_WATCH, 0, 1, 0, 504, NONE, KUBE_RETRY, 0},
	{"408, write", KUBE_WRITE, 0, 1, 0, 408, NONE, KUBE_IN_DOUBT, 0},
	{"501", KUBE_WRITE, 0, 1, 0, 501, NONE, KUBE_GIVE_UP, 0},
	{"599, write", KUBE_WRITE, 0, 1, 0, 599, NONE, KUBE_IN_DOUBT, 0},

	{"no connection", KUBE_WRITE, CURLE_COULDNT_CONNECT, 0, 0, 0, NONE, KUBE_RETRY, 0},
	{"no name", KUBE_WRITE, CURLE_COULDNT_RESOLVE_HOST, 0, 0, 0, NONE, KUBE_RETRY, 0},
	{"TLS broke off", KUBE_WRITE, CURLE_SSL_CONNECT_ERROR, 0, 0, 0, NONE, KUBE_RETRY, 0},
	{"a stranger's certificate", KUBE_WRITE, CURLE_PEER_FAILED_VERIFICATION, 0, 0, 0, NONE,
		KUBE_DENIED, 0},
	{"our certificate is bad", KUBE_READ, CURLE_SSL_CERTPROBLEM, 0, 0, 0, NONE, KUBE_DENIED, 0},
	{"timeout before sending", KUBE_WRITE, CURLE_OPERATION_TIMEDOUT, 0, 0, 0, NONE, KUBE_RETRY,
		0},
	{"timeout after sending", KUBE_WRITE, CURLE_OPERATION_TIMEDOUT, 1, 0, 0, NONE,
		KUBE_IN_DOUBT, 0},
	{"timeout, read", KUBE_READ, CURLE_OPERATION_TIMEDOUT, 1, 0, 0, NONE, KUBE_RETRY, 0},
	{"cut before the status", KUBE_WRITE, CURLE_GOT_NOTHING, 1, 0, 0, NONE, KUBE_IN_DOUBT, 0},
	{"cut while sending", KUBE_WRITE, CURLE_SEND_ERROR, 1, 0, 0, NONE, KUBE_IN_DOUBT, 0},
	{"cut while receiving", KUBE_WRITE, CURLE_RECV_ERROR, 1, 0, 0, NONE, KUBE_IN_DOUBT, 0},
	{"200 with half a body", KUBE_WRITE, CURLE_PARTIAL_FILE, 1, 0, 200, NONE, KUBE_IN_DOUBT, 0},
	{"409 with half a body says enough", KUBE_WRITE, CURLE_PARTIAL_FILE, 1, 0, 409, NONE,
		KUBE_CONFLICT, 0},
	{"a bad URL", KUBE_READ, CURLE_URL_MALFORMAT, 0, 0, 0, NONE, KUBE_GIVE_UP, 0},
	{"nothing at all", KUBE_WRITE, 0, 1, 0, 0, NONE, KUBE_IN_DOUBT, 0},

	{"too large, read", KUBE_READ, CURLE_WRITE_ERROR, 1, 1, 200, NONE, KUBE_LIMIT, 0},
	{"too large, write", KUBE_WRITE, CURLE_WRITE_ERROR, 1, 1, 200, NONE, KUBE_IN_DOUBT, 0},
	{"too large for etcd", KUBE_WRITE, 0, 1, 0, 500, NONE, KUBE_GIVE_UP, 0, true},
	{"a read that says so", KUBE_READ, 0, 1, 0, 500, NONE, KUBE_RETRY, 0, true},
	{"a webhook failed, write", KUBE_WRITE, 0, 1, 0, 500, NONE, KUBE_RETRY, 0, false, true},
	{"a webhook said 503", KUBE_WRITE, 0, 1, 0, 503, NONE, KUBE_RETRY, 0, false, true},
	{"too large, refused", KUBE_WRITE, CURLE_WRITE_ERROR, 1, 1, 422, NONE, KUBE_STALE, 0},
};

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		const struct row *r = &rows[i];
		struct kube_verdict v = kube_judge(&(struct kube_facts){.intent = r->intent,
			.curl = r->curl,
			.sent = r->sent,
			.over_ceiling = r->over,
			.over_storage = r->over_storage,
			.in_admission = r->in_admission,
			.http_status = r->status,
			.retry_after_ms = r->after_ms});
		if (v.outcome != r->outcome || v.retry_after_ms != r->retry_after_ms)
			fail_msg("%s: %s after %lld ms, not %s after %lld ms", r->name,
				kube_outcome_name(v.outcome), (long long)v.retry_after_ms,
				kube_outcome_name(r->outcome), (long long)r->retry_after_ms);
	}
}

/* The two rules the ledger stands on, over everything the table could have forgotten. */
static void test_no_write_is_repeated_that_may_have_landed(void **state)
{
	(void)state;
	for (int status = 0; status < 600; status++) {
		for (int curl = 0; curl < CURL_LAST; curl++) {
			struct kube_facts f = {.intent = KUBE_WRITE,
				.curl = curl,
				.sent = true,
				.http_status = status,
				.retry_after_ms = -1};
			enum kube_outcome o = kube_judge(&f).outcome;
			if (curl == 0 && status >= 500 && status != 501 && status != 505)
				assert_int_equal(o, KUBE_IN_DOUBT);
			if (o == KUBE_RETRY && status != 429)
				assert_true(curl == CURLE_COULDNT_CONNECT ||
					    curl == CURLE_COULDNT_RESOLVE_HOST ||
					    curl == CURLE_COULDNT_RESOLVE_PROXY ||
					    curl == CURLE_SSL_CONNECT_ERROR);
			if (o == KUBE_DONE)
				assert_true(curl == 0 && status >= 200 && status <= 299);
			f.intent = KUBE_READ;
			assert_int_not_equal(kube_judge(&f).outcome, KUBE_IN_DOUBT);
		}
	}
}

static void test_words(void **state)
{
	static const struct {
		const char *text;
		enum server_words what;
		bool says;
	} words[] = {
		{"spec.template: Invalid value: field is immutable", SERVER_FIELD_IS_IMMUTABLE,
			true},
		{"metadata.annotations: Too long: must have at most 262144 bytes",
			SERVER_ANNOTATIONS_TOO_LONG, true},
		{"etcdserver: request is too large", SERVER_REQUEST_TOO_LARGE, true},
		{"etcdserver: request is too large", SERVER_OBJECT_TOO_LARGE, true},
		{"pods \"a\" is forbidden: exceeded quota: q", SERVER_QUOTA_EXCEEDED, true},
		{"pods \"a\" is forbidden: exceeded quota: q", SERVER_NO_RIGHT, false},
		{"jobs \"a\" is forbidden: User \"x\" cannot patch resource", SERVER_NO_RIGHT,
			true},
		{"jobs \"a\" is forbidden: User \"x\" is not liked", SERVER_NO_RIGHT, false},
		{"\" cannot is forbidden: User \"", SERVER_NO_RIGHT, false},
		{"Internal error occurred: failed calling webhook \"w\"", SERVER_WEBHOOK_FAILED,
			true},
		{"admission webhook \"w\" denied the request: no", SERVER_WEBHOOK_REFUSED, true},
		{"admission webhook \"w\" is slow", SERVER_WEBHOOK_REFUSED, false},
		{"", SERVER_FIELD_IS_IMMUTABLE, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (server_says(slice_of(words[i].text), words[i].what) != words[i].says)
			fail_msg("row %zu: %s", i, words[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_no_write_is_repeated_that_may_have_landed),
		cmocka_unit_test(test_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
