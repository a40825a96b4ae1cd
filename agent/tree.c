#include "agent/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/file.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "base/slice.h"

enum { DEEPEST = 5 };

/* ---- names ----------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
	return slice_ends(slice_of(name), end);
}

/* Tells whether a directory of this name, in one of that name, is a tier. */
static bool is_tier(const char *parent, const char *name)
{
	if (strcmp(name, "besteffort") == 0)
		return strcmp(parent, "kubepods") == 0;
	return strcmp(name, "kubepods-besteffort.slice") == 0 ||
	       ends_with(name, "-kubepods-besteffort.slice");
}

bool cgroup_pod_uid(const char *name, struct uid *ret_uid)
{
	const char *pod = strncmp(name, "pod", 3) == 0 ? name : strstr(name, "-pod");
	char text[UID_TEXT_SIZE];
	if (!pod)
		return false;
	pod += *pod == '-' ? 4 : 3;
	size_t len = strlen(pod);
	if (ends_with(name, ".slice"))
		len -= strlen(".slice");
	if (len != sizeof(text) - 1)
		return false;
	for (size_t i = 0; i < len; i++)
		text[i] = pod[i] == '_' ? '-' : pod[i];
	text[len] = '\0';
	return uid_parse(text, ret_uid);
}

bool cgroup_is_container(const char *name, const char *id)
{
	return id[0] != '\0' && strstr(name, id) && !strstr(name, "conmon");
}

/* ---- directories ----------------------------------------------------------------------------- */

static bool is_directory(int parent, const struct dirent *d)
{
	struct stat s;
	if (d->d_name[0] == '.')
		return false;
	if (d->d_type != DT_UNKNOWN)
		return d->d_type == DT_DIR;
	return fstatat(parent, d->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(s.st_mode);
}

bool cgroup_each_child(const char *path, void (*found)(const char *name, void *ctx), void *ctx)
{
	DIR *dir = opendir(path);
	if (!dir)
		return false;
	for (const struct dirent *d; (d = readdir(dir));)
		if (is_directory(dirfd(dir), d))
			found(d->d_name, ctx);
	closedir(dir);
	return true;
}

/* Tells whether the file of a v2 tier names a controller. */
static bool lists_controller(const char *dir, const char *controller)
{
	char text[512];
	if (!file_read_in(dir, "cgroup.controllers", text, sizeof(text)))
		return false;
	for (char *rest = text, *word; (word = strsep(&rest, " \n"));)
		if (strcmp(word, controller) == 0)
			return true;
	return false;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* What a search has found. */
struct places {
	char **path;
	size_t count;
};

static void add_place(struct places *p, const char *path)
{
	p->path = mem_one_more(p->path, p->count, sizeof(*p->path));
	p->path[p->count++] = mem_strdup(path);
}

static void places_done(struct places *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->path[i]);
	free(p->path);
}

/* A directory whose children are looked at. */
struct search {
	const char *path;
	int depth;	  /* of what is looked for, below it; no deeper */
	const char *tier; /* its path below a child; NULL: by its name */
	struct places *found;
};

static void look_at(const char *name, void *ctx)
{
	const struct search *s = ctx;
	char path[FILE_PATH_SIZE];
	struct search below = {path, s->depth - 1, NULL, s->found};
	if (!file_path(s->path, name, path))
		return;
	if (below.depth > 0)
		cgroup_each_child(path, look_at, &below);
	else if (is_tier(strrchr(s->path, '/') ? strrchr(s->path, '/') + 1 : s->path, name))
		add_place(s->found, path);
}

/* Finds the tiers that stand highest: those in the hierarchies of v1 stand equally high. A tier of
 * another kubelet, deeper down (a node in a container), is not looked at. */
static void search_levels(const char *root, struct places *ret)
{
	for (int depth = 1; depth <= DEEPEST && ret->count == 0; depth++)
		cgroup_each_child(root, look_at, &(struct search){root, depth, NULL, ret});
}

static void add_if_there(struct places *p, const char *dir, const char *tier)
{
	char path[FILE_PATH_SIZE];
	if (file_path(dir, tier, path) && file_is_there(path, "."))
		add_place(p, path);
}

static void look_below(const char *name, void *ctx)
{
	const struct search *s = ctx;
	char path[FILE_PATH_SIZE];
	if (file_path(s->path, name, path))
		add_if_there(s->found, path, s->tier);
}

/* Looks for a tier that was named, in the root and in each hierarchy of it. */
static void look_for(const char *root, const char *tier, struct places *ret)
{
	tier += strspn(tier, "/");
	add_if_there(ret, root, tier);
	cgroup_each_child(root, look_below, &(struct search){root, 0, tier, ret});
}

/* ---- what a place is for --------------------------------------------------------------------- */

static void take(struct cgroup_tree *t, enum hierarchy h, const char *path, enum cgroup_version v)
{
	if (t->tier[h])
		return;
	t->tier[h] = mem_strdup(path);
	t->version[h] = v;
}

static void take_place(struct cgroup_tree *t, const char *path)
{
	if (file_is_there(path, "cgroup.controllers")) {
		if (lists_controller(path, "cpu"))
			take(t, HIERARCHY_CPU, path, CGROUP_V2);
		if (lists_controller(path, "memory"))
			take(t, HIERARCHY_MEMORY, path, CGROUP_V2);
		take(t, HIERARCHY_USAGE, path, CGROUP_V2); /* cpu.stat needs no controller */
		return;
	}
	if (file_is_there(path, "cpu.shares"))
		take(t, HIERARCHY_CPU, path, CGROUP_V1);
	if (file_is_there(path, "cpuacct.usage"))
		take(t, HIERARCHY_USAGE, path, CGROUP_V1);
	if (file_is_there(path, "memory.limit_in_bytes"))
		take(t, HIERARCHY_MEMORY, path, CGROUP_V1);
}

/* Gives the path of a place without the root and the directory below it, which is a hierarchy on v1
 * and part of the tier's path on v2. */
static const char *below_hierarchy(const char *root, const char *path)
{
	const char *rest = path + strlen(root);
	rest += strspn(rest, "/");
	return rest + strcspn(rest, "/");
}

/* Takes v1's places before v2's, which in a hybrid tree is empty but for cpu.stat. */
static void take_places(struct cgroup_tree *t, const char *root, const struct places *p)
{
	const char *first = below_hierarchy(root, p->path[0]);
	for (int unified = 0; unified <= 1; unified++)
		for (size_t i = 0; i < p->count; i++)
			if (strcmp(below_hierarchy(root, p->path[i]), first) == 0 &&
				file_is_there(p->path[i], "cgroup.controllers") == unified)
				take_place(t, p->path[i]);
}

int cgroup_tree_find(
	const char *root, const char *tier, struct cgroup_tree *ret_tree, struct err *e)
{
	struct places p = {NULL, 0};
	*ret_tree = (struct cgroup_tree){{NULL}};
	if (tier)
		look_for(root, tier, &p);
	else
		search_levels(root, &p);
	if (p.count > 0) {
		qsort(p.path, p.count, sizeof(*p.path), text_order);
		take_places(ret_tree, root, &p);
		ret_tree->systemd = ends_with(p.path[0], ".slice");
	}
	places_done(&p);
	if (ret_tree->tier[HIERARCHY_CPU] || ret_tree->tier[HIERARCHY_MEMORY])
		return 0;
	cgroup_tree_done(ret_tree);
	if (tier)
		return err_set(e, ERR_GONE,
			"there is no cgroup %.200s below %.200s; --tier is its path below the mount, such as kubepods.slice/kubepods-besteffort.slice",
			tier, root);
	return err_set(e, ERR_GONE,
		"there is no cgroup of best-effort pods (kubepods-besteffort.slice, kubepods/besteffort) below %.200s; say where it is with --tier",
		root);
}

void cgroup_tree_done(struct cgroup_tree *t)
{
	for (int h = 0; h < HIERARCHIES; h++)
		free(t->tier[h]);
	*t = (struct cgroup_tree){{NULL}};
}

const char *cgroup_tree_first(const struct cgroup_tree *t)
{
	for (int h = 0; h < HIERARCHIES; h++)
		if (t->tier[h])
			return t->tier[h];
	must(!"a tree without a tier");
	return NULL;
}

int cgroup_tree_lock(const struct cgroup_tree *t, int *ret_file, struct err *e)
{
	const char *dir = cgroup_tree_first(t);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		*ret_file = fd;
		return 0;
	}
	int code = errno;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && code == EWOULDBLOCK)
		return err_set(e, ERR_BUSY, "another sluice-node holds %.300s", dir);
	return err_set(e, ERR_GONE, "%.300s: %s", dir, strerror(code));
}
