#include "controller/net/token.h"

#include <string.h>
#include <sys/random.h>

#include "base/must.h"
#include "controller/net/review.h"

enum { TOKEN_MAX = 16 * 1024 };

struct siphash_key token_key(void)
{
	struct siphash_key key;
	must(getrandom(&key, sizeof(key), 0) == sizeof(key));
	return key;
}

bool token_hash(const struct siphash_key *key, const char *text, struct token *ret)
{
	size_t len = text ? strlen(text) : 0;
	if (len == 0 || len > TOKEN_MAX)
		return false;
	siphash128(key, text, len, ret->hash);
	return true;
}

uint64_t token_review(struct kube_client *client, const char *text, const char *audience,
	size_t answer_ceiling, kube_answer_fn *fn, void *ctx)
{
	struct buf body;
	buf_init(&body, 2 * TOKEN_MAX);
	review_ask_token(&body, text, audience);
	struct kube_request request = {
		.method = KUBE_POST,
		.path = "/apis/authentication.k8s.io/v1/tokenreviews",
		.body = buf_slice(&body),
		.timeout_ms = TOKEN_TIMEOUT_MS,
		.answer_ceiling = answer_ceiling,
		.last = true,
	};
	uint64_t sent = body.failed ? 0 : kube_client_send(client, &request, fn, ctx);
	if (body.ptr)
		explicit_bzero(body.ptr, body.len);
	buf_done(&body);
	return sent;
}
