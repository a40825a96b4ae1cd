/*
 * A tree of cgroups of plain files, as a kernel and a kubelet make one, and a kernel that refuses:
 * pwrite() of the program under test comes here first (-Wl,--wrap=pwrite).
 *
 *     v1    a quota above the parent's or below a child's is EINVAL, a memory limit below use EBUSY
 *     v2    memory.max below use is taken, and counted: a real kernel would kill
 *
 * Each write is judged: a file outside of what the test allows fails the test.
 */
#ifndef SLUICE_TEST_AGENT_FAKE_TREE_H
#define SLUICE_TEST_AGENT_FAKE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/limits.h"

struct fake_tree {
	char root[64];
	enum cgroup_version version;
	bool systemd;
	const char *above; /* what the tier is in, such as "kubelet.slice/kubelet-"; "": nothing */
	/* What the test allows to be written: parts of paths, each of a pod or of one file. */
	const char *allowed[8];
	size_t writes; /* so far */
	size_t kills;  /* writes of memory.max below use, on v2 */
	/* What is refused: the end of a path, and the errno. NULL: nothing more than a kernel does. */
	const char *refuses;
	int refusal;
};

/* Makes a tree with an empty tier, and has writes judged by it. */
void fake_tree_make(struct fake_tree *t);
void fake_tree_remove(struct fake_tree *t);

/* Give the path of the tier, and of a pod, in the hierarchy of that file ("cpu.max"). The text lives
 * until sixteen more were asked for. */
const char *fake_tier(const struct fake_tree *t, const char *file);
const char *fake_pod(const struct fake_tree *t, const char *uid, const char *file);
/* Gives the name of a pod's directory. */
const char *fake_pod_name(const struct fake_tree *t, const char *uid);

/* Make the cgroup of a pod, or one in it, with all files of its version. */
void fake_pod_make(const struct fake_tree *t, const char *uid);
void fake_container_make(const struct fake_tree *t, const char *uid, const char *name);
void fake_pod_remove(const struct fake_tree *t, const char *uid);

/* Write and read the file of a pod ("uid"), a container ("uid/name") or the tier (""), by its name
 * on v2: "cpu.max" is cpu.cfs_quota_us on v1. Values are without the newline. */
void fake_put(const struct fake_tree *t, const char *cgroup, const char *file, const char *value);
const char *fake_get(const struct fake_tree *t, const char *cgroup, const char *file);

/* Writes a file as it is: a path, and all of its text. */
void fake_file(const char *path, const char *text);

#endif
