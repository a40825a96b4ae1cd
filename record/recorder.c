#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "record/directory.h"
#include "record/facts.h"
#include "sluice/queue_call.h"

#define BUFFER_BYTES (64 * 1024)

struct recorder {
	struct recorder_options o;
	struct queue *queue; /* NULL: none is listened to */
	pid_t pid;
	int dir, run; /* -1: not open */
	char name[RUN_NAME_SIZE];
	gzFile part; /* NULL: the recording has ended */
	unsigned npart;
	bool fresh; /* nothing was told since the last tick */
	struct buf line;
	struct recorder_state state;
};

/* ---- The end of a recording ---- */

static void let_go(struct recorder *r)
{
	if (r->queue)
		queue_listen(r->queue, (struct queue_listener){0});
	if (r->part)
		gzclose(r->part);
	if (r->run >= 0)
		close(r->run);
	if (r->dir >= 0)
		close(r->dir);
	r->queue = NULL;
	r->part = NULL;
	r->run = r->dir = -1;
	r->state.recording = false;
	buf_done(&r->line);
}

static void give_up(struct recorder *r, const char *what, int error)
{
	struct err e;
	err_set(&e, 0, "%s: %s", what, strerror(error));
	let_go(r);
	r->o.ended(e.text, r->o.ctx);
}

/* Gives up with the error of zlib, which keeps errno when the fault was the system's. */
static void give_up_writing(struct recorder *r)
{
	int error;
	gzerror(r->part, &error);
	give_up(r, "its part cannot be written", error == Z_ERRNO && errno ? errno : EIO);
}

/* ---- Parts ---- */

/* Deletes the oldest runs that nobody writes, until there is room for one more part. */
static bool make_room(struct recorder *r)
{
	struct run_names all;
	if (run_names_read(r->dir, &all, NULL) != 0)
		return true; /* then nothing is known of older ones */
	uint64_t bytes = 0;
	for (size_t i = 0; i < all.count; i++)
		bytes += run_bytes(r->dir, all.name[i]);
	for (size_t i = 0; i < all.count && bytes + RECORD_PART_BYTES > r->o.most_bytes; i++) {
		uint64_t own = run_bytes(r->dir, all.name[i]);
		if (strcmp(all.name[i], r->name) != 0 && run_delete(r->dir, all.name[i]))
			bytes -= own;
	}
	run_names_done(&all);
	return bytes + RECORD_PART_BYTES <= r->o.most_bytes;
}

static bool part_begins(struct recorder *r)
{
	char name[PART_NAME_SIZE];
	part_name(++r->npart, name);
	int fd = openat(r->run, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	r->part = fd >= 0 ? gzdopen(fd, "wb1") : NULL;
	if (!r->part) {
		int error = errno;
		if (fd >= 0)
			close(fd);
		give_up(r, "no file can be made for it", error);
		return false;
	}
	gzbuffer(r->part, BUFFER_BYTES);
	return true;
}

static void put_end(struct recorder *r, const char *why)
{
	struct record_end end = {why};
	buf_reset(&r->line);
	schema_write(record_end_schema(), &end, &r->line);
	buf_putc(&r->line, '\n');
	gzwrite(r->part, buf_text(&r->line), (unsigned)r->line.len);
}

static void part_ends(struct recorder *r)
{
	if (!make_room(r)) {
		struct err e;
		err_set(&e, ERR_LIMIT,
			"all records would take more than %" PRIu64
			" MiB; raise --record-max, or restart the controller for a new run",
			r->o.most_bytes >> 20);
		put_end(r, e.text);
		let_go(r);
		r->o.ended(e.text, r->o.ctx);
		return;
	}
	gzFile part = r->part;
	r->part = NULL;
	if (gzclose(part) == Z_OK)
		part_begins(r);
	else
		give_up(r, "its part cannot be written", errno ? errno : EIO);
}

/* ---- Lines ---- */

static void put_line(struct recorder *r)
{
	buf_putc(&r->line, '\n');
	if (r->line.failed) {
		put_end(r, "a call is longer than a line may be");
		give_up(r, "a call is longer than a line may be", EMSGSIZE);
		return;
	}
	errno = 0;
	if (gzwrite(r->part, r->line.ptr, (unsigned)r->line.len) != (int)r->line.len) {
		give_up_writing(r);
		return;
	}
	r->fresh = false;
	r->state.lines++;
	r->state.bytes += r->line.len;
	if ((uint64_t)gzoffset(r->part) >= RECORD_PART_BYTES - BUFFER_BYTES)
		part_ends(r);
}

/* Writes the line of a call, but not in a forked child. */
static void hear(const struct queue_call *call, void *ctx)
{
	struct recorder *r = ctx;
	if (getpid() != r->pid)
		return;
	buf_reset(&r->line);
	schema_write(queue_call_schema(), call, &r->line);
	put_line(r);
}

/* ---- Its life ---- */

static int open_dir(struct recorder *r, struct err *e)
{
	if (mkdir(r->o.dir, 0700) != 0 && errno != EEXIST)
		return err_set(e, ERR_DENIED, "%s cannot be made: %s", r->o.dir, strerror(errno));
	r->dir = open(r->o.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->dir < 0)
		return err_set(e, ERR_DENIED, "%s cannot be opened as a directory: %s", r->o.dir,
			strerror(errno));
	return 0;
}

static void begin_run(struct recorder *r)
{
	struct record_header header = {RECORD_FORMAT, SLUICE_VERSION, r->o.identity, r->o.now_ms};
	run_name(r->o.now_ms, r->o.identity, r->name);
	if (mkdirat(r->dir, r->name, 0700) != 0 || (r->run = run_lock(r->dir, r->name)) < 0) {
		give_up(r, "no folder can be made for it", errno);
		return;
	}
	if (!make_room(r)) {
		give_up(r,
			"other controllers are writing more than --record-max into the directory",
			ENOSPC);
		return;
	}
	r->state.recording = part_begins(r);
	if (!r->state.recording)
		return;
	schema_write(record_header_schema(), &header, &r->line);
	put_line(r);
}

int recorder_open(const struct recorder_options *o, struct recorder **ret, struct err *e)
{
	struct recorder *r = mem_alloc(sizeof(*r));
	*r = (struct recorder){.o = *o, .pid = getpid(), .dir = -1, .run = -1};
	buf_init(&r->line, RECORD_LINE_MAX);
	int rc = open_dir(r, e);
	if (rc) {
		let_go(r);
		free(r);
		return rc;
	}
	begin_run(r);
	*ret = r;
	return 0;
}

void recorder_close(struct recorder *r, const char *why)
{
	if (!r)
		return;
	if (r->part)
		put_end(r, why);
	let_go(r);
	free(r);
}

void recorder_listen(struct recorder *r, struct queue *q)
{
	if (!r->part)
		return;
	r->queue = q;
	queue_listen(q, (struct queue_listener){hear, r});
}

void recorder_tick(struct recorder *r)
{
	if (!r || !r->part || r->fresh)
		return;
	r->fresh = true;
	errno = 0;
	if (gzflush(r->part, Z_SYNC_FLUSH) != Z_OK)
		give_up_writing(r);
}

struct recorder_state recorder_state(const struct recorder *r)
{
	return r ? r->state : (struct recorder_state){0};
}
