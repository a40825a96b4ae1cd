#include "agent/knob.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/file.h"

/* From here on v1's memory.limit_in_bytes means no limit: the most that its counter holds is
 * INT64_MAX in whole pages, and pages have 64 KiB at most. */
#define V1_NO_LIMIT (INT64_MAX - 65536)

static const char *const files[KNOB_FILES][2] = {
	[KNOB_QUOTA] = {"cpu.cfs_quota_us", "cpu.max"},
	[KNOB_WEIGHT] = {"cpu.shares", "cpu.weight"},
	[KNOB_MEMORY] = {"memory.limit_in_bytes", "memory.max"},
	[KNOB_HIGH] = {NULL, "memory.high"},
	[KNOB_IDLE] = {"cpu.idle", "cpu.idle"},
};

const char *knob_file(const struct knob *k)
{
	return files[k->kind][k->version == CGROUP_V2];
}

bool knob_open(struct knob *k, const char *dir, int kind, enum cgroup_version version)
{
	*k = (struct knob){
		.fd = -1, .period_fd = -1, .watch = -1, .kind = kind, .version = version};
	k->period_us = PERIOD_US;
	k->now = LIMIT_NONE;
	if (knob_file(k))
		k->fd = file_open(dir, knob_file(k), O_RDWR | O_NONBLOCK);
	if (k->fd >= 0 && kind == KNOB_QUOTA && version == CGROUP_V1)
		k->period_fd = file_open(dir, "cpu.cfs_period_us", O_RDONLY);
	return k->fd >= 0;
}

void knob_close(struct knob *k)
{
	file_close(&k->fd);
	file_close(&k->period_fd);
}

/* Reads the first line of a file. False: there is no whole one. */
static bool read_line(int fd, char ret_line[64])
{
	char *end = file_read(fd, ret_line, 64) ? strchr(ret_line, '\n') : NULL;
	if (!end)
		return false;
	*end = '\0';
	return true;
}

/* Reads a number, or "max", up to `end`. */
static bool read_value(const char *text, char end, const char **ret_rest, int64_t *ret_value)
{
	char *rest;
	if (strncmp(text, "max", 3) == 0) {
		*ret_value = LIMIT_NONE;
		rest = (char *)(uintptr_t)text + 3;
	} else {
		errno = 0;
		*ret_value = strtoll(text, &rest, 10);
		if (rest == text || errno != 0)
			return false;
	}
	if (*rest != end)
		return false;
	*ret_rest = rest + (end != '\0');
	return true;
}

static bool read_period(struct knob *k, const char *text)
{
	int64_t period;
	if (!read_value(text, '\0', &text, &period) || period < QUOTA_LEAST_US)
		return false;
	k->period_us = period;
	return true;
}

static bool read_quota(struct knob *k, const char *line, int64_t *ret)
{
	char period[64];
	if (k->version == CGROUP_V2)
		return read_value(line, ' ', &line, ret) && read_period(k, line);
	if (!read_value(line, '\0', &line, ret))
		return false;
	if (k->period_fd >= 0 && read_line(k->period_fd, period))
		read_period(k, period);
	return true;
}

/* Reads the file, and counts nothing. */
static bool peek(struct knob *k, int64_t *ret)
{
	char line[64];
	const char *rest;
	if (k->fd < 0 || !read_line(k->fd, line))
		return false;
	if (k->kind == KNOB_QUOTA)
		return read_quota(k, line, ret);
	if (!read_value(line, '\0', &rest, ret))
		return false;
	if (k->kind == KNOB_MEMORY && k->version == CGROUP_V1 && *ret >= V1_NO_LIMIT)
		*ret = LIMIT_NONE;
	return true;
}

static void count_undone(struct knob *k, int64_t now_ms)
{
	if (k->undone == 0)
		k->window_ms = now_ms;
	k->undone++;
	k->wrote = false; /* each value of somebody else's counts once */
}

bool knob_read(struct knob *k, int64_t now_ms, int64_t *ret_value)
{
	if (!peek(k, ret_value))
		return false;
	k->now = *ret_value;
	if (k->undone > 0 && now_ms - k->window_ms >= KNOB_WINDOW_MS)
		k->undone = 0;
	if (k->wrote && *ret_value != k->wrote_value)
		count_undone(k, now_ms);
	return true;
}

bool knob_yields(const struct knob *k)
{
	return k->undone > KNOB_REWRITES_MAX;
}

static int write_value(const struct knob *k, int64_t value, char text[64])
{
	const char *none = k->version == CGROUP_V2 ? "max" : "-1";
	char number[32];
	snprintf(number, sizeof(number), "%" PRId64, value);
	if (k->kind == KNOB_QUOTA && k->version == CGROUP_V2)
		return snprintf(text, 64, "%s %" PRId64 "\n", value == LIMIT_NONE ? none : number,
			k->period_us);
	return snprintf(text, 64, "%s\n", value == LIMIT_NONE ? none : number);
}

int knob_write(struct knob *k, int64_t value)
{
	char text[64];
	int len = write_value(k, value, text);
	ssize_t n = pwrite(k->fd, text, (size_t)len, 0);
	if (n != len)
		return n < 0 ? errno : EIO;
	k->wrote_value = k->now = value;
	k->wrote = true;
	return 0;
}
