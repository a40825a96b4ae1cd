#include "agent/orders_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/file.h"
#include "base/buf.h"
#include "base/json.h"
#include "node/wire.h"

#define FILE_NAME "orders.json"
#define FRESH_NAME FILE_NAME ".new"

/* Says that a file of the directory cannot be read, or written. */
static int fail(struct err *e, int code, const char *dir, const char *file, const char *why)
{
	return err_set(e, code, "%.300s/%s: %s", dir, file, why);
}

/* Writes all of a text, and gives the errno, or 0. */
static int write_all(int fd, struct slice text)
{
	while (text.len > 0) {
		ssize_t n = write(fd, text.ptr, text.len);
		if (n <= 0)
			return n < 0 ? errno : ENOSPC;
		text.ptr += n;
		text.len -= (size_t)n;
	}
	return 0;
}

int orders_file_keep(const char *dir, struct slice text, struct err *e)
{
	char path[FILE_PATH_SIZE], fresh[FILE_PATH_SIZE];
	int fd = file_open(dir, FRESH_NAME, O_WRONLY | O_CREAT | O_TRUNC);
	if (fd < 0)
		return fail(e, ERR_BUSY, dir, FRESH_NAME, strerror(errno));
	int code = write_all(fd, text);
	if (close(fd) != 0 && code == 0)
		code = errno;
	if (code == 0 && !(file_path(dir, FILE_NAME, path) && file_path(dir, FRESH_NAME, fresh)))
		code = ENAMETOOLONG;
	if (code == 0 && rename(fresh, path) != 0)
		code = errno;
	return code == 0 ? 0 : fail(e, ERR_BUSY, dir, FILE_NAME, strerror(code));
}

/* Reads a file, at most as much as orders may be. False: it cannot be read, or is longer. */
static bool read_all(int fd, struct buf *out)
{
	char bytes[8192];
	ssize_t n;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0 && !out->failed)
		buf_add(out, bytes, (size_t)n);
	return n == 0 && !out->failed;
}

int orders_file_read(const char *dir, struct orders **ret, struct err *e)
{
	int fd = file_open(dir, FILE_NAME, O_RDONLY);
	if (fd < 0)
		return fail(e, errno == ENOENT ? ERR_GONE : ERR_INVALID, dir, FILE_NAME,
			strerror(errno));
	struct buf text;
	struct json *j = json_new(WIRE_ORDERS_TREE_BYTES);
	buf_init(&text, ORDERS_BYTES_MAX);
	int rc = 0;
	if (!read_all(fd, &text))
		rc = fail(e, ERR_INVALID, dir, FILE_NAME, "cannot be read, or is too large");
	else if (wire_read_orders(j, buf_slice(&text), ret, e) < 0) {
		rc = ERR_INVALID;
		err_wrap(e, "%.300s/" FILE_NAME, dir);
	}
	close(fd);
	buf_done(&text);
	json_free(j);
	return rc;
}
