#include "controller/kube/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

static int read_all(int fd, struct buf *out)
{
	char chunk[16384];
	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0)
			buf_add(out, chunk, (size_t)n);
		if (n <= 0 || out->failed) {
			explicit_bzero(chunk, sizeof(chunk));
			return n < 0 ? -1 : 0;
		}
	}
}

int source_read_file(const char *path, char **ret_text, size_t *ret_len, struct err *err)
{
	struct buf text;
	int rc = 0;
	/* O_NONBLOCK: a fifo by this name must not hold up the loop. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	if (fd < 0)
		return err_set(err, errno == ENOENT ? ERR_GONE : ERR_INVALID, "cannot read %s: %s",
			path, strerror(errno));
	buf_init(&text, SOURCE_CEILING);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		rc = err_set(err, ERR_INVALID, "cannot read %s: not a file", path);
	else if (read_all(fd, &text) < 0)
		rc = err_set(err, ERR_INVALID, "cannot read %s: %s", path, strerror(errno));
	else if (text.failed)
		rc = err_set(err, ERR_LIMIT, "%s has more than %d bytes", path, SOURCE_CEILING);
	close(fd);
	if (rc < 0) {
		buf_done(&text);
		return rc;
	}
	*ret_len = text.len;
	*ret_text = buf_take(&text);
	return 0;
}

int source_read(const struct kube_source *source, char **ret_text, struct err *err)
{
	size_t len;
	char *text;
	if (!source->path) {
		*ret_text = mem_strdup(source->data);
		return 0;
	}
	int rc = source_read_file(source->path, &text, &len, err);
	if (rc < 0)
		return rc;
	if (strlen(text) != len) {
		source_forget(text);
		return err_set(err, ERR_INVALID, "%s holds a NUL byte", source->path);
	}
	*ret_text = text;
	return 0;
}

bool source_is_token(const char *text)
{
	for (const char *p = text; *p; p++)
		if (*p <= ' ' || *p > '~')
			return false;
	return *text != '\0';
}

void source_trim(char *text)
{
	size_t len = strlen(text), start = strspn(text, " \t\r\n");
	while (len > start && strchr(" \t\r\n", text[len - 1]))
		len--;
	memmove(text, text + start, len - start);
	text[len - start] = '\0';
}

static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *source_to_base64(const char *text)
{
	size_t len = strlen(text), n = 0;
	char *out = mem_alloc((len + 2) / 3 * 4 + 1);
	for (size_t i = 0; i < len; i += 3) {
		uint32_t bits = 0;
		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < len ? (unsigned char)text[i + k] : 0);
		for (size_t k = 0; k < 4; k++) {
			char digit = base64_digits[bits >> (18 - 6 * k) & 63];
			out[n++] = i + k <= len ? digit : '=';
		}
	}
	return out;
}

static int base64_value(char c)
{
	const char *at = c ? strchr(base64_digits, c) : NULL;
	return at ? (int)(at - base64_digits) : -1;
}

char *source_base64(const char *coded)
{
	char *out = mem_alloc(strlen(coded) / 4 * 3 + 4);
	size_t len = 0, digits = 0, pads = 0;
	uint32_t bits = 0;
	for (; *coded; coded++) {
		if (*coded == '\n' || *coded == '\r')
			continue;
		if (*coded == '=') {
			pads++;
			continue;
		}
		int value = base64_value(*coded);
		if (value < 0 || pads > 0)
			break;
		bits = bits << 6 | (uint32_t)value;
		if (++digits % 4 != 1)
			out[len++] = (char)(bits >> (6 - 2 * ((digits - 1) % 4)) & 0xff);
	}
	if (*coded || (digits + pads) % 4 != 0 || pads > 2 || len == 0 || memchr(out, '\0', len)) {
		explicit_bzero(out, len);
		free(out);
		return NULL;
	}
	return out; /* mem_alloc zeroed it */
}

void source_forget(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}
