#include "controller/kube/answer.h"

#include <curl/curl.h>

#include "base/must.h"

enum { RETRY_DEFAULT_MS = 1000 }; /* what a 429 without Retry-After means, as in client-go */

/* Judges a request without a whole answer: was anything sent, and could it work another time? */
static enum kube_outcome judge_cut(const struct kube_facts *f)
{
	switch (f->curl) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
		return KUBE_DENIED;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return KUBE_GIVE_UP;
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_SSL_CONNECT_ERROR:
		return KUBE_RETRY; /* curl sends nothing before these */
	default:
		return f->intent == KUBE_WRITE && f->sent ? KUBE_IN_DOUBT : KUBE_RETRY;
	}
}

/* Judges a 5xx other than those that say "not now" in so many words: the handler may have got as
 * far as etcd (500 for a lost leader, 504 for a slow one, 502 from a load balancer). What is too
 * large for etcd is refused before anything is written, and so is what a webhook keeps from it. */
static enum kube_outcome judge_broken(const struct kube_facts *f)
{
	if (f->http_status == 501 || f->http_status == 505)
		return KUBE_GIVE_UP;
	if (f->http_status == 500 && f->over_storage && f->intent == KUBE_WRITE)
		return KUBE_GIVE_UP;
	return f->intent == KUBE_WRITE && !f->in_admission ? KUBE_IN_DOUBT : KUBE_RETRY;
}

static enum kube_outcome judge_status(const struct kube_facts *f)
{
	switch (f->http_status) {
	case 401:
	case 403:
		return KUBE_DENIED;
	case 404:
		return KUBE_GONE;
	case 408: /* the server waited for our request in vain; a proxy may say it too late */
		return f->intent == KUBE_WRITE ? KUBE_IN_DOUBT : KUBE_RETRY;
	case 409:
		return KUBE_CONFLICT;
	case 410:
		return f->intent == KUBE_WATCH ? KUBE_RELIST : KUBE_GONE;
	case 422:
		return KUBE_STALE;
	case 429:
		return KUBE_RETRY;
	case 503: /* with Retry-After it is the server itself, before it did anything */
		return f->retry_after_ms >= 0 ? KUBE_RETRY : judge_broken(f);
	default:
		if (f->http_status >= 200 && f->http_status <= 299)
			return KUBE_DONE;
		return f->http_status >= 500 ? judge_broken(f) : KUBE_GIVE_UP;
	}
}

/* Judges an answer over the ceiling. Its status came, so a refused write is as refused as with its
 * body. */
static enum kube_outcome judge_large(const struct kube_facts *f)
{
	enum kube_outcome outcome = judge_status(f);
	if (outcome != KUBE_DONE)
		return outcome;
	return f->intent == KUBE_WRITE ? KUBE_IN_DOUBT : KUBE_LIMIT;
}

static enum kube_outcome judge_outcome(const struct kube_facts *f)
{
	if (f->over_ceiling && f->http_status > 0)
		return judge_large(f);
	if (f->http_status >= 300) /* the status says enough, even if the body was cut */
		return judge_status(f);
	if (f->curl != CURLE_OK || f->http_status == 0)
		return judge_cut(f);
	return judge_status(f);
}

struct kube_verdict kube_judge(const struct kube_facts *f)
{
	struct kube_verdict v = {.outcome = judge_outcome(f)};
	if (f->http_status >= 400 && f->retry_after_ms > 0)
		v.retry_after_ms = f->retry_after_ms;
	else if (f->http_status == 429)
		v.retry_after_ms = RETRY_DEFAULT_MS;
	if (v.retry_after_ms > KUBE_RETRY_AFTER_MAX_MS)
		v.retry_after_ms = KUBE_RETRY_AFTER_MAX_MS;
	return v;
}

const char *kube_outcome_name(enum kube_outcome outcome)
{
	switch (outcome) {
	case KUBE_DONE:
		return "done";
	case KUBE_RETRY:
		return "retry";
	case KUBE_CONFLICT:
		return "conflict";
	case KUBE_STALE:
		return "stale";
	case KUBE_GONE:
		return "gone";
	case KUBE_RELIST:
		return "relist";
	case KUBE_DENIED:
		return "denied";
	case KUBE_IN_DOUBT:
		return "in doubt";
	case KUBE_LIMIT:
		return "over the limit";
	case KUBE_GIVE_UP:
		return "given up";
	}
	must(!"a kube_outcome");
	return NULL;
}
