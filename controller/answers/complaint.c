#include "controller/answers/complaint.h"

#include <stdio.h>

#include "controller/answers/job_query.h"

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

void complaint_put_member(
	struct json_writer *w, const char *key, unsigned status, const char *sentence)
{
	jw_object(w, key);
	jw_texts(w, "kind", "Status", "apiVersion", "v1", NULL);
	jw_object_of(w, "metadata", NULL);
	jw_texts(w, "status", "Failure", "reason", reason_of(status), NULL);
	jw_int(w, "code", status);
	jw_text(w, "message", sentence);
	jw_end(w);
}

void complaint_put(struct buf *out, unsigned status, const char *sentence)
{
	struct json_writer w = json_writer(out);
	complaint_put_member(&w, NULL, status, sentence);
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

void complain_of_no_job(struct http_question *q, const char *name)
{
	char sentence[512];
	snprintf(sentence, sizeof(sentence), "queuedjobs." VISIBILITY_GROUP " \"%s\" not found",
		name);
	complain(q, 404, sentence);
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
