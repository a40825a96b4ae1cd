#include "cli/hold_words.h"

#include <string.h>

#include "cli/commands.h"
#include "sluice/queue.h"

#define AGAIN "; to queue it again: "

enum { COMMAND_MAX_BYTES = 1024, MESSAGE_MAX_BYTES = 1 << 20 };

static const cJSON *status_of(const cJSON *job)
{
	return json_object(job, "status");
}

static const char *name_of(const cJSON *object)
{
	return text_of(json_object(object, "metadata"), "name");
}

static const char *namespace_of(const cJSON *object)
{
	return text_of(json_object(object, "metadata"), "namespace");
}

bool hold_words_apply(const cJSON *job)
{
	return strcmp(text_of(status_of(job), "reason"), wait_reason_name(WAIT_HELD)) == 0;
}

static void put_command(const cJSON *object, struct buf *out)
{
	buf_printf(out, "sluice release job/%s -n %s", name_of(object), namespace_of(object));
}

void hold_words_no_start(const cJSON *object, struct buf *out)
{
	struct buf line;
	buf_init(&line, MESSAGE_MAX_BYTES);
	buf_puts(&line, "No start while it is on hold. To queue it again: ");
	put_command(object, &line);
	text_render(buf_text(&line), out);
	buf_done(&line);
}

static void put_message(const cJSON *job, bool without, struct buf *out)
{
	const char *message = text_of(status_of(job), "message");
	struct buf kubectl;
	buf_init(&kubectl, COMMAND_MAX_BYTES);
	buf_printf(&kubectl, AGAIN "kubectl annotate -n %s job/%s sluice.dev/hold-",
		namespace_of(job), name_of(job));
	const char *at = kubectl.failed ? NULL : strstr(message, buf_text(&kubectl));
	if (!at) {
		buf_puts(out, message);
	} else {
		buf_printf(out, "%.*s", (int)(at - message), message);
		if (!without) {
			buf_puts(out, AGAIN);
			put_command(job, out);
		}
		buf_puts(out, at + kubectl.len);
	}
	buf_done(&kubectl);
}

void hold_words_message(const cJSON *job, bool without, struct local_times *times, struct buf *out)
{
	struct buf message;
	buf_init(&message, MESSAGE_MAX_BYTES);
	put_message(job, without, &message);
	local_times_render(times, buf_text(&message), out);
	buf_done(&message);
}
