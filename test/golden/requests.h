/* The bodies that a scripted server was sent, as golden texts under the lines of their requests. */
#ifndef SLUICE_TEST_GOLDEN_REQUESTS_H
#define SLUICE_TEST_GOLDEN_REQUESTS_H

#include "test/golden/golden.h"
#include "test/unit/kube/scripted_server.h"

static inline void golden_requests(const struct scripted_server *s)
{
	for (size_t i = 0; i < scripted_server_count(s); i++) {
		const struct scripted_request *r = scripted_server_request(s, i);
		golden_add(r->line, "", slice_of(r->body ? r->body : ""));
	}
}

#endif
