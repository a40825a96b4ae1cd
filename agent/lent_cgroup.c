#include "agent/lent_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/file.h"
#include "base/mem.h"

enum hierarchy hierarchy_of(enum knob_kind kind)
{
	return kind == KNOB_QUOTA || kind == KNOB_WEIGHT ? HIERARCHY_CPU : HIERARCHY_MEMORY;
}

void lent_cgroup_init(struct lent_cgroup *c)
{
	*c = (struct lent_cgroup){.id = ""};
	gauge_init(&c->gauge);
	for (int kind = 0; kind < KNOB_KINDS; kind++)
		c->knob[kind] = (struct knob){.fd = -1, .period_fd = -1, .watch = -1, .kind = kind};
}

void lent_cgroup_done(struct lent_cgroup *c, struct site *site)
{
	for (int kind = 0; kind < KNOB_KINDS; kind++) {
		notices_forget(site->notices, c->knob[kind].watch);
		knob_close(&c->knob[kind]);
	}
	gauge_close(&c->gauge);
	for (int h = 0; h < HIERARCHIES; h++)
		free(c->dir[h]);
}

void lent_cgroup_take_dir(
	struct lent_cgroup *c, struct site *site, enum hierarchy h, const char *dir, void *owner)
{
	free(c->dir[h]);
	c->dir[h] = mem_strdup(dir);
	for (int kind = 0; kind < KNOB_KINDS; kind++) {
		struct knob *k = &c->knob[kind];
		if (hierarchy_of((enum knob_kind)kind) == h && !knob_is_there(k) &&
			knob_open(k, dir, kind, site->tree.version[h]))
			k->watch = notices_watch_file(site->notices, dir, knob_file(k), owner);
	}
	gauge_open(&c->gauge, &site->tree, c->dir);
}

int lent_cgroup_kill(const struct lent_cgroup *c)
{
	int fd = file_open(c->dir[HIERARCHY_MEMORY], "cgroup.kill", O_WRONLY);
	if (fd < 0)
		return errno;
	int code = write(fd, "1\n", 2) == 2 ? 0 : errno;
	close(fd);
	return code;
}

bool lent_cgroup_is_populated(const struct lent_cgroup *c)
{
	char text[256];
	return file_read_in(c->dir[HIERARCHY_MEMORY], "cgroup.events", text, sizeof(text)) &&
	       strstr(text, "populated 1");
}
