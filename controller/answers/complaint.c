#include "controller/answers/complaint.h"

#include <stdio.h>

static const char *reason_of(unsigned status)
{
	switch (status) {
	case 400:
		return "BadRequest";
	case 401:
		return "Unauthorized";
	case 404:
		return "NotFound";
	case 405:
		return "MethodNotAllowed";
	case 406:
		return "NotAcceptable";
	case 409:
		return "Conflict";
	case 410:
		return "Expired";
	case 413:
		return "RequestEntityTooLarge";
	case 429:
		return "TooManyRequests";
	case 500:
		return "InternalError";
	default:
		return "ServiceUnavailable";
	}
}

void complaint_put(struct buf *out, unsigned status, const char *sentence)
{
	buf_printf(out,
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"reason\":\"%s\",\"code\":%u,\"message\":",
		reason_of(status), status);
	buf_json_string(out, sentence);
	buf_putc(out, '}');
}

void complain(struct http_question *q, unsigned status, const char *sentence)
{
	struct buf body;
	buf_init(&body, 8192);
	complaint_put(&body, status, sentence);
	buf_putc(&body, '\n');
	http_answer(q, (struct http_reply){status, "application/json"}, &body);
	buf_done(&body);
}

bool complain_of_unsent(struct http_question *q, size_t more, const char *cure)
{
	char sentence[200];
	if (http_has_room(q, more))
		return false;
	snprintf(sentence, sizeof(sentence), "too many large answers are on their way: %s", cure);
	complain(q, 503, sentence);
	return true;
}
