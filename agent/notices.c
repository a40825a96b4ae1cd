#include "agent/notices.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "agent/file.h"
#include "base/map.h"
#include "base/mem.h"

/* Some pressure of 150 ms in 2 s, the shortest window that takes no capability. */
static const char trigger[] = "some 150000 2000000";

struct watched {
	int watch;
	void *owner;
};

struct notices {
	struct ev_loop *loop;
	struct notices_events events;
	struct map watches;
	int inotify;
	ev_io io;
	/* The trigger's file tells by EPOLLPRI, which libev knows nothing of: it is in an epoll set
	 * of its own, which is readable then. */
	int pressure, set;
	ev_io pressure_io;
};

static bool has_watch(const void *value, const void *key)
{
	return ((const struct watched *)value)->watch == *(const int *)key;
}

static uint64_t hash_watch(int watch)
{
	return map_hash_bytes(&watch, sizeof(watch));
}

static void tell(struct notices *n, const struct inotify_event *e)
{
	if (e->mask & IN_Q_OVERFLOW) {
		n->events.lost(n->events.ctx);
		return;
	}
	const struct watched *w = map_get(&n->watches, hash_watch(e->wd), &e->wd);
	if (!w)
		return;
	if (e->mask & IN_IGNORED)
		free(map_take(&n->watches, hash_watch(e->wd), &e->wd));
	else if (e->mask & (IN_CREATE | IN_MOVED_TO))
		n->events.made(w->owner, e->len > 0 ? e->name : "", n->events.ctx);
	else if (e->mask & IN_MODIFY)
		n->events.changed(w->owner, n->events.ctx);
}

static void on_inotify(struct ev_loop *loop, ev_io *io, int revents)
{
	struct notices *n = io->data;
	char bytes[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	(void)loop;
	(void)revents;
	for (ssize_t len; (len = read(n->inotify, bytes, sizeof(bytes))) > 0;)
		for (const char *at = bytes; at < bytes + len;) {
			const struct inotify_event *e = (const void *)at;
			tell(n, e);
			at += sizeof(*e) + e->len;
		}
}

static void on_pressure(struct ev_loop *loop, ev_io *io, int revents)
{
	struct notices *n = io->data;
	struct epoll_event e;
	(void)loop;
	(void)revents;
	/* To ask whether the set is readable has taken the notice out of it already. */
	epoll_wait(n->set, &e, 1, 0);
	n->events.pressure(n->events.ctx);
}

int notices_new(struct ev_loop *loop, const struct notices_events *events,
	struct notices **ret_notices, struct err *e)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (fd < 0)
		return err_set(e, ERR_BUSY,
			"the kernel gives no inotify instance: %s; raise the sysctl fs.inotify.max_user_instances",
			strerror(errno));
	struct notices *n = mem_alloc(sizeof(*n));
	*n = (struct notices){
		.loop = loop, .events = *events, .inotify = fd, .pressure = -1, .set = -1};
	map_init(&n->watches, has_watch);
	ev_io_init(&n->io, on_inotify, fd, EV_READ);
	n->io.data = n;
	ev_io_start(loop, &n->io);
	*ret_notices = n;
	return 0;
}

void notices_free(struct notices *n)
{
	if (!n)
		return;
	ev_io_stop(n->loop, &n->io);
	close(n->inotify);
	if (n->set >= 0) {
		ev_io_stop(n->loop, &n->pressure_io);
		close(n->set);
	}
	if (n->pressure >= 0)
		close(n->pressure);
	map_free(&n->watches, free);
	free(n);
}

static int add_watch(struct notices *n, const char *path, uint32_t what, void *owner)
{
	int watch = n ? inotify_add_watch(n->inotify, path, what) : -1;
	if (watch < 0)
		return -1;
	struct watched *w = map_get(&n->watches, hash_watch(watch), &watch);
	if (!w) {
		w = mem_alloc(sizeof(*w));
		w->watch = watch;
		map_put(&n->watches, hash_watch(watch), w);
	}
	w->owner = owner;
	return watch;
}

int notices_watch_dir(struct notices *n, const char *path, void *owner)
{
	return add_watch(n, path, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR, owner);
}

int notices_watch_file(struct notices *n, const char *dir, const char *file, void *owner)
{
	char path[FILE_PATH_SIZE];
	return file_path(dir, file, path) ? add_watch(n, path, IN_MODIFY, owner) : -1;
}

void notices_forget(struct notices *n, int watch)
{
	if (!n || watch < 0)
		return;
	inotify_rm_watch(n->inotify, watch); /* refused when the file is gone */
	free(map_take(&n->watches, hash_watch(watch), &watch));
}

bool notices_watch_pressure(struct notices *n, const char *path)
{
	struct epoll_event e = {.events = EPOLLPRI};
	n->pressure = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (n->pressure < 0)
		return false;
	n->set = epoll_create1(EPOLL_CLOEXEC);
	if (n->set < 0 || write(n->pressure, trigger, sizeof(trigger)) < 0 ||
		epoll_ctl(n->set, EPOLL_CTL_ADD, n->pressure, &e) != 0) {
		if (n->set >= 0)
			close(n->set);
		close(n->pressure);
		n->set = n->pressure = -1;
		return false;
	}
	ev_io_init(&n->pressure_io, on_pressure, n->set, EV_READ);
	n->pressure_io.data = n;
	ev_io_start(n->loop, &n->pressure_io);
	return true;
}
