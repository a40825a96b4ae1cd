#include "controller/net/posted.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Gives the length that a head says, which libmicrohttpd has found to be digits. */
static size_t length_of(struct MHD_Connection *c)
{
	const char *text = header(c, "Content-Length");
	errno = 0;
	unsigned long long n = text ? strtoull(text, NULL, 10) : 0;
	return errno || n > SIZE_MAX ? SIZE_MAX : (size_t)n;
}

bool posted_has_body(struct MHD_Connection *c)
{
	return length_of(c) > 0 || header(c, "Transfer-Encoding");
}

static unsigned fault_of_get(struct MHD_Connection *c, const char *method, const char **ret)
{
	*ret = "only GET and HEAD";
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return 405;
	*ret = "a request must have no body";
	return posted_has_body(c) ? 413 : 0;
}

static unsigned fault_of_post(
	struct MHD_Connection *c, const char *method, const struct posts *p, const char **ret)
{
	*ret = "only POST";
	if (strcmp(method, "POST") != 0)
		return 405;
	*ret = "the length of a body must be said beforehand (Content-Length)";
	if (header(c, "Transfer-Encoding") || !header(c, "Content-Length"))
		return 411;
	*ret = "the body is too long";
	return length_of(c) > p->most_bytes ? 413 : 0;
}

unsigned posted_begin(struct posted *ret, const struct posts *p, struct MHD_Connection *c,
	const char *path, const char *method, const char **ret_sentence)
{
	ret->takes_post = p->path && strcmp(path, p->path) == 0;
	unsigned status = ret->takes_post ? fault_of_post(c, method, p, ret_sentence)
					  : fault_of_get(c, method, ret_sentence);
	ret->length = status == 0 ? length_of(c) : 0;
	buf_init(&ret->body, ret->length);
	return status;
}

void posted_done(struct posted *b)
{
	buf_done(&b->body);
	b->length = 0;
}

void posted_add(struct posted *b, const char *data, size_t size)
{
	buf_add(&b->body, data, size);
}

bool posted_is_whole(const struct posted *b)
{
	return !b->body.failed && b->body.len == b->length;
}
