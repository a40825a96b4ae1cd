/*
 * The tree: where the cgroups of best-effort pods are on this node.
 *
 *     tier       [X-]kubepods-besteffort.slice (systemd driver) or kubepods/besteffort (cgroupfs)
 *     pod        below it: ...-pod<uid with _>.slice, or pod<uid>
 *     container  below that: whatever directory has the 64 digits of its id in its name. No runtime
 *                is asked, and cri-containerd-, crio-, docker- or nothing may stand before them
 *
 * A node has one hierarchy for all (v2), or one for each controller (v1), or v2 beside v1 (hybrid).
 * Each controller is taken from where it is, and its version is that of its place. All places are
 * of one tier: the path below the mount is the same in each.
 *
 * The tree writes nothing. A search costs a walk over directories, which no link of is followed.
 */
#ifndef SLUICE_AGENT_TREE_H
#define SLUICE_AGENT_TREE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/uid.h"
#include "node/limits.h"

/* What a node counts and limits, each perhaps in a hierarchy of its own. On v2 they are one. */
enum hierarchy { HIERARCHY_CPU, HIERARCHY_USAGE, HIERARCHY_MEMORY, HIERARCHIES };

struct cgroup_tree {
	char *tier[HIERARCHIES]; /* paths; NULL: there is no such controller */
	enum cgroup_version version[HIERARCHIES];
	bool systemd; /* the driver */
};

/* Finds the tier below root (/sys/fs/cgroup): at most five directories deep, the first by path of
 * the highest. tier: its path below the mount, which is then not looked for; NULL: found.
 * Returns 0; ERR_GONE: there is none, with a sentence. */
int cgroup_tree_find(
	const char *root, const char *tier, struct cgroup_tree *ret_tree, struct err *e);
void cgroup_tree_done(struct cgroup_tree *t);

/* Gives the path of the tier in a hierarchy in which it is. */
const char *cgroup_tree_first(const struct cgroup_tree *t);

/* Takes the tier for one agent alone, until the file that it gives is closed. ERR_BUSY: another one
 * has it; ERR_GONE: it is not there any more. */
int cgroup_tree_lock(const struct cgroup_tree *t, int *ret_file, struct err *e);

/* Read the uid out of the name of a pod's directory. False: no pod, or a static one, which has a
 * hash for a uid. */
bool cgroup_pod_uid(const char *name, struct uid *ret_uid);
/* Whether the name of a directory is that of this container; what watches over it (conmon) is
 * not. */
bool cgroup_is_container(const char *name, const char *id);

/* Calls found() for each directory in a directory, in no order. False: it cannot be read, for it is
 * gone. */
bool cgroup_each_child(const char *path, void (*found)(const char *name, void *ctx), void *ctx);

#endif
