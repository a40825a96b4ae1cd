#include "record/run_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "record/recorder.h"

#define CHUNK (256 * 1024)

struct run_reader {
	int run;
	unsigned npart;
	char part_file[PART_NAME_SIZE];
	gzFile part; /* NULL: none is open */
	struct buf text;
	size_t done;  /* bytes of text that are behind us */
	size_t found; /* bytes of it in which no end of a line is */
	uint64_t line;
	bool cut;
	char place[PART_NAME_SIZE + 32];
};

/* Opens a file, compressed or not. */
static int open_part(struct run_reader *r, unsigned number)
{
	char name[PART_NAME_SIZE];
	part_name(number, name);
	int fd = openat(r->run, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT) {
		name[strlen(name) - strlen(".gz")] = '\0';
		fd = openat(r->run, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	if (fd >= 0)
		memcpy(r->part_file, name, sizeof(name));
	return fd;
}

static bool part_begins(struct run_reader *r)
{
	int fd = open_part(r, r->npart + 1);
	r->part = fd >= 0 ? gzdopen(fd, "rb") : NULL;
	if (!r->part && fd >= 0)
		close(fd);
	if (!r->part)
		return false;
	gzbuffer(r->part, CHUNK);
	r->npart++;
	r->line = 0;
	return true;
}

int run_reader_open(int dir, const char *run, struct run_reader **ret, struct err *e)
{
	struct run_reader *r = mem_alloc(sizeof(*r));
	buf_init(&r->text, RECORD_LINE_MAX + 2 * CHUNK);
	r->run = openat(dir, run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->run < 0 || !part_begins(r)) {
		int error = errno;
		run_reader_free(r);
		return err_set(e, ERR_GONE, "run %s: its first part cannot be read: %s", run,
			strerror(error));
	}
	*ret = r;
	return 0;
}

void run_reader_free(struct run_reader *r)
{
	if (!r)
		return;
	if (r->part)
		gzclose(r->part);
	if (r->run >= 0)
		close(r->run);
	buf_done(&r->text);
	free(r);
}

/* Reads more text: 1. 0: there is no more. A missing compressed end is the end of a process. */
static int read_more(struct run_reader *r, struct err *e)
{
	char chunk[16 * 1024];
	while (r->part) {
		int problem = Z_OK, n = gzread(r->part, chunk, sizeof(chunk));
		if (n > 0) {
			buf_add(&r->text, chunk, (size_t)n);
			return 1;
		}
		const char *sentence = gzerror(r->part, &problem);
		if (problem != Z_OK && problem != Z_STREAM_END && problem != Z_BUF_ERROR)
			return err_set(e, ERR_INVALID, "%s is damaged: %s", r->part_file, sentence);
		r->cut = r->cut || problem == Z_BUF_ERROR;
		gzclose(r->part);
		r->part = NULL;
		if (r->cut || !part_begins(r))
			return 0;
	}
	return 0;
}

int run_reader_next(struct run_reader *r, struct slice *ret_line, struct err *e)
{
	if (r->done > 0)
		buf_consume(&r->text, r->done);
	r->done = r->found = 0;
	for (;;) {
		const char *text = buf_text(&r->text);
		const char *end = memchr(text + r->found, '\n', r->text.len - r->found);
		if (end) {
			*ret_line = (struct slice){text, (size_t)(end - text)};
			r->done = ret_line->len + 1;
			r->line++;
			return 1;
		}
		r->found = r->text.len;
		if (r->found > RECORD_LINE_MAX)
			return err_set(e, ERR_LIMIT, "%s:%llu: the line is longer than %zu MiB",
				r->part_file, (unsigned long long)r->line + 1,
				RECORD_LINE_MAX >> 20);
		int more = read_more(r, e);
		if (more < 0)
			return more;
		if (more == 0)
			break;
	}
	r->cut = r->cut || r->text.len > 0;
	return 0;
}

bool run_reader_was_cut(const struct run_reader *r)
{
	return r->cut;
}

const char *run_reader_place(const struct run_reader *r)
{
	struct run_reader *own = (struct run_reader *)(uintptr_t)r;
	snprintf(own->place, sizeof(own->place), "%s:%llu", r->part_file,
		(unsigned long long)r->line);
	return r->place;
}
