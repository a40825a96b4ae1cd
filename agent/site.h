/*
 * The site: the tier, held by this agent alone, and what was done there.
 *
 * One agent at a time writes: it has a lock on the tier's directory for as long as it holds it.
 * Whoever writes says here what was done and what the kernel refused, for the log and the controller.
 */
#ifndef SLUICE_AGENT_SITE_H
#define SLUICE_AGENT_SITE_H

#include "agent/deeds.h"
#include "agent/notices.h"
#include "agent/tree.h"
#include "controller/common/log.h"

struct site {
	struct log *log;
	struct notices *notices; /* NULL: nobody is to be told */
	struct cgroup_tree tree;
	int lock;	/* a file; -1: the tier is not held */
	unsigned lacks; /* LACKS_*. PRESSURE and IDLE are the owner's to set */
	struct deeds deeds;
};

/* Finds the tier and takes it; tier as for cgroup_tree_find(). Returns 0, also where it is held
 * already; ERR_GONE: there is none; ERR_BUSY: another agent has it. */
int site_hold(struct site *s, const char *cgroups, const char *tier, struct err *e);
/* Lets others have it. */
void site_drop(struct site *s);
static inline bool site_is_held(const struct site *s)
{
	return s->lock >= 0;
}

/* Notes what was done to a pod, with the bytes that it was about. */
void site_did(struct site *s, enum deed_kind kind, const struct uid *pod, int64_t bytes);
/* Notes that the kernel refused a write, with its errno. ENODEV is no refusal: the cgroup is gone. */
void site_was_refused(struct site *s, const struct uid *pod, const char *file, int code);
/* Notes that somebody else writes the same file. */
void site_was_undone(struct site *s, const struct uid *pod, const char *file, unsigned times);

#endif
