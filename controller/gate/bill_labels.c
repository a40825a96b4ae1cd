#include "controller/gate/bill_labels.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define KEY_MAX 317 /* a prefix of 253, a slash, a name of 63 */

static bool key_valid(const char *key)
{
	size_t len = strlen(key), slashes = 0;
	for (const char *p = key; *p; p++) {
		slashes += *p == '/';
		if (!isalnum((unsigned char)*p) && !strchr("-_./", *p))
			return false;
	}
	return len > 0 && len <= KEY_MAX && slashes <= 1 && isalnum((unsigned char)key[0]) &&
	       isalnum((unsigned char)key[len - 1]);
}

int bill_labels_parse(const char *text, struct bill_labels *ret, struct err *e)
{
	struct bill_labels b = {.text = mem_strdup(text)};
	int rc = 0;
	for (char *key = b.text, *end; *key && !rc; key = end) {
		end = key + strcspn(key, ",");
		if (*end)
			*end++ = '\0';
		if (!key_valid(key))
			rc = err_set(e, ERR_INVALID,
				"\"%.80s\" is no key of a label; write e.g. " BILL_LABELS_DEFAULT,
				key);
		else if (b.n == BILL_LABELS_MAX)
			rc = err_set(e, ERR_INVALID,
				"more than %d keys; name the few that bills are "
				"told by",
				BILL_LABELS_MAX);
		else
			b.key[b.n++] = key;
	}
	if (rc)
		bill_labels_done(&b);
	else
		*ret = b;
	return rc;
}

void bill_labels_done(struct bill_labels *b)
{
	free(b->text);
	*b = (struct bill_labels){0};
}

static const char *value_of(const struct job *j, const char *key)
{
	for (size_t i = 0; i < j->nlabels; i++)
		if (strcmp(j->labels[i].key, key) == 0)
			return j->labels[i].value;
	return NULL;
}

char *bill_labels_of(const struct bill_labels *b, const struct job *j)
{
	struct buf out;
	if (j->nlabels == 0)
		return NULL; /* nearly always */
	buf_init(&out, BILL_LABELS_BYTES_MAX);
	buf_putc(&out, '{');
	for (size_t i = 0; i < b->n; i++) {
		const char *value = value_of(j, b->key[i]);
		if (!value ||
			out.len + strlen(b->key[i]) + 2 * strlen(value) + 8 > BILL_LABELS_BYTES_MAX)
			continue;
		if (out.len > 1)
			buf_putc(&out, ',');
		buf_json_string(&out, b->key[i]);
		buf_putc(&out, ':');
		buf_json_string(&out, value);
	}
	bool some = out.len > 1;
	buf_putc(&out, '}');
	char *text = some && !out.failed ? buf_take(&out) : NULL;
	buf_done(&out);
	return text;
}
