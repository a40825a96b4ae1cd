#include "controller/gate/bill_labels.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"

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

static int take_key(struct bill_labels *b, const char *key, struct err *e)
{
	if (!key_valid(key))
		return err_set(e, ERR_INVALID,
			"\"%.80s\" is no key of a label; write e.g. " BILL_LABELS_DEFAULT, key);
	if (b->n == BILL_LABELS_MAX)
		return err_set(e, ERR_INVALID,
			"more than %d keys; name the few that bills are told by", BILL_LABELS_MAX);
	b->key[b->n++] = key;
	return 0;
}

int bill_labels_parse(const char *text, struct bill_labels *ret, struct err *e)
{
	*ret = (struct bill_labels){.n = 0};
	if (strlen(text) >= sizeof(ret->text))
		return err_set(e, ERR_INVALID, "longer than %zu bytes", sizeof(ret->text) - 1);
	strcpy(ret->text, text);
	int rc = 0;
	for (char *key = ret->text, *end; *key && rc == 0; key = end) {
		end = key + strcspn(key, ",");
		if (*end)
			*end++ = '\0';
		rc = take_key(ret, key, e);
	}
	return rc;
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
