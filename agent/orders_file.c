#include "agent/orders_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "node/wire.h"

enum { PATH_SIZE = 4096, TREE_MAX_BYTES = 16 << 20 };

static int open_in(const char *dir, const char *file, int how, char ret_path[PATH_SIZE])
{
	int len = snprintf(ret_path, PATH_SIZE, "%s/%s", dir, file);
	if (len < 0 || len >= PATH_SIZE) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(ret_path, how | O_CLOEXEC, 0600);
}

static int write_all(int fd, struct slice text)
{
	while (text.len > 0) {
		ssize_t n = write(fd, text.ptr, text.len);
		if (n < 0)
			return -1;
		text.ptr += n;
		text.len -= (size_t)n;
	}
	return 0;
}

int orders_file_keep(const char *dir, struct slice text, struct err *e)
{
	char path[PATH_SIZE], fresh[PATH_SIZE];
	snprintf(path, sizeof(path), "%s/orders.json", dir);
	int fd = open_in(dir, "orders.json.new", O_WRONLY | O_CREAT | O_TRUNC, fresh);
	if (fd < 0)
		return err_set(e, ERR_BUSY, "%.300s: %s", fresh, strerror(errno));
	int rc = write_all(fd, text);
	if (close(fd) != 0 || rc < 0 || rename(fresh, path) != 0)
		return err_set(e, ERR_BUSY, "%.300s: %s", path, strerror(errno));
	return 0;
}

/* Reads a file, at most as much as orders may be. */
static int read_all(int fd, struct buf *out)
{
	char bytes[8192];
	ssize_t n;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0 && !out->failed)
		buf_add(out, bytes, (size_t)n);
	return n < 0 || out->failed ? -1 : 0;
}

int orders_file_read(const char *dir, struct orders **ret, struct err *e)
{
	char path[PATH_SIZE];
	int fd = open_in(dir, "orders.json", O_RDONLY, path);
	if (fd < 0)
		return err_set(e, errno == ENOENT ? ERR_GONE : ERR_INVALID, "%.300s: %s", path,
			strerror(errno));
	struct buf text;
	struct json *j = json_new(TREE_MAX_BYTES);
	buf_init(&text, ORDERS_BYTES_MAX);
	int rc = read_all(fd, &text);
	if (rc < 0)
		err_set(e, rc = ERR_INVALID, "cannot be read, or is too large");
	else
		rc = wire_read_orders(j, buf_slice(&text), ret, e);
	if (rc < 0) {
		err_wrap(e, "%.300s", path);
		rc = ERR_INVALID;
	}
	close(fd);
	buf_done(&text);
	json_free(j);
	return rc;
}
