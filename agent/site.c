#include "agent/site.h"

#include <errno.h>
#include <string.h>

#include "agent/file.h"

static unsigned what_lacks(const struct site *s)
{
	const char *memory = s->tree.tier[HIERARCHY_MEMORY];
	return (s->tree.tier[HIERARCHY_CPU] ? 0u : LACKS_CPU) | (memory ? 0u : LACKS_MEMORY) |
	       (file_is_there(memory, "memory.high") ? 0u : LACKS_HOLD) |
	       (file_is_there(memory, "cgroup.kill") ? 0u : LACKS_END) |
	       (s->lacks & LACKS_PRESSURE);
}

int site_hold(struct site *s, const char *cgroups, const char *tier, struct err *e)
{
	if (site_is_held(s))
		return 0;
	int rc = cgroup_tree_find(cgroups, tier, &s->tree, e);
	if (rc < 0)
		return rc;
	rc = cgroup_tree_lock(&s->tree, &s->lock, e);
	if (rc < 0)
		cgroup_tree_done(&s->tree);
	else
		s->lacks = what_lacks(s);
	return rc;
}

void site_drop(struct site *s)
{
	cgroup_tree_done(&s->tree);
	file_close(&s->lock);
	s->lacks = LACKS_TIER | (s->lacks & LACKS_PRESSURE);
}

void site_did(struct site *s, enum deed_kind kind, const struct uid *pod, int64_t bytes)
{
	char uid[UID_TEXT_SIZE];
	uid_format(pod, uid);
	deeds_note(&s->deeds, kind, pod, NULL, bytes);
	log_event(s->log, LEVEL_INFO, deed_names[kind], "pod", uid, "#bytes", LOG_NUMBER(bytes),
		NULL);
}

void site_was_refused(struct site *s, const struct uid *pod, const char *file, int code)
{
	char uid[UID_TEXT_SIZE];
	if (code == ENODEV)
		return;
	uid_format(pod, uid);
	deeds_note(&s->deeds, DEED_REFUSED, pod, file, code);
	log_event(s->log, LEVEL_WARN, "refused", "pod", uid, "file", file, "why", strerror(code),
		NULL);
}

void site_was_undone(struct site *s, const struct uid *pod, const char *file, unsigned times)
{
	char uid[UID_TEXT_SIZE];
	uid_format(pod, uid);
	deeds_note(&s->deeds, DEED_UNDONE, pod, file, times);
	log_event(s->log, LEVEL_WARN, "undone", "pod", uid, "file", file, "#times",
		LOG_NUMBER(times), "effect",
		"somebody else writes this file; it is left alone for a minute", NULL);
}
