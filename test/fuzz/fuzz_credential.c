/* Any bytes as what a credential plugin prints: a credential that is safe to send, or a sentence.
 */
#include <stdint.h>
#include <string.h>

#include "base/must.h"
#include "controller/kube/plugin.h"
#include "controller/kube/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plugin_result r;
	plugin_read(
		(struct slice){(const char *)data, size}, "client.authentication.k8s.io/v1", &r);
	must((r.code == 0) == (r.token || r.cert));
	must((r.code == 0) == (r.err.text[0] == '\0'));
	must(!r.cert == !r.key);
	must(!r.token || source_is_token(r.token));
	must(r.expires_at == r.expires_at && r.expires_at > -1e12 && r.expires_at < 1e12);
	source_forget(r.token);
	source_forget(r.cert);
	source_forget(r.key);
	return 0;
}
