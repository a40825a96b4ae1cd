#include "record/directory.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* ---- Names ---- */

#define STAMP "########T#########Z-"

void run_name(int64_t started_ms, const char *identity, char ret[RUN_NAME_SIZE])
{
	time_t at = (time_t)(started_ms / 1000);
	struct tm utc;
	char stamp[32];
	gmtime_r(&at, &utc);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &utc);
	snprintf(
		ret, RUN_NAME_SIZE, "%.15s%03dZ-%.100s", stamp, (int)(started_ms % 1000), identity);
	for (char *c = ret + sizeof(STAMP) - 1; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '-' && *c != '.')
			*c = '_';
}

static bool is_run(const char *name)
{
	const char *form = STAMP;
	for (; *form; form++, name++)
		if (*form == '#' ? !isdigit((unsigned char)*name) : *name != *form)
			return false;
	return *name != '\0';
}

void part_name(unsigned number, char ret[PART_NAME_SIZE])
{
	snprintf(ret, PART_NAME_SIZE, "%06u.jsonl.gz", number);
}

unsigned part_number(const char *name)
{
	size_t digits = strspn(name, "0123456789");
	const char *end = name + digits;
	bool is_part = digits == 6 && (strcmp(end, ".jsonl") == 0 || strcmp(end, ".jsonl.gz") == 0);
	return is_part ? (unsigned)strtoul(name, NULL, 10) : 0;
}

/* ---- Runs ---- */

static DIR *open_below(int fd, const char *name)
{
	int own = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = own >= 0 ? fdopendir(own) : NULL;
	if (!d && own >= 0)
		close(own);
	return d;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

int run_names_read(int fd, struct run_names *ret, struct err *e)
{
	DIR *d = open_below(fd, ".");
	if (!d)
		return err_set(e, ERR_DENIED, "it cannot be read: %s", strerror(errno));
	*ret = (struct run_names){0};
	for (const struct dirent *each; (each = readdir(d));) {
		if (!is_run(each->d_name) || strlen(each->d_name) >= RUN_NAME_SIZE)
			continue;
		ret->name = mem_grow(ret->name, ret->count + 1, RUN_NAME_SIZE);
		memcpy(ret->name[ret->count++], each->d_name, strlen(each->d_name) + 1);
	}
	closedir(d);
	if (ret->count > 0)
		qsort(ret->name, ret->count, RUN_NAME_SIZE, by_name);
	return 0;
}

void run_names_done(struct run_names *r)
{
	free(r->name);
	*r = (struct run_names){0};
}

uint64_t run_bytes(int fd, const char *run)
{
	DIR *d = open_below(fd, run);
	uint64_t bytes = 0;
	for (const struct dirent *each; d && (each = readdir(d));) {
		struct stat st;
		if (part_number(each->d_name) > 0 &&
			fstatat(dirfd(d), each->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			bytes += (uint64_t)st.st_size;
	}
	if (d)
		closedir(d);
	return bytes;
}

int run_lock(int fd, const char *run)
{
	int own = openat(fd, run, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (own < 0 || flock(own, LOCK_EX | LOCK_NB) == 0)
		return own;
	close(own);
	errno = EWOULDBLOCK;
	return -1;
}

bool run_delete(int fd, const char *run)
{
	int lock = run_lock(fd, run);
	DIR *d = lock >= 0 ? open_below(fd, run) : NULL;
	for (const struct dirent *each; d && (each = readdir(d));)
		if (part_number(each->d_name) > 0)
			unlinkat(dirfd(d), each->d_name, 0);
	bool gone = d && unlinkat(fd, run, AT_REMOVEDIR) == 0;
	if (d)
		closedir(d);
	if (lock >= 0)
		close(lock);
	return gone;
}
