#include "controller/common/note_log.h"

#include <stdio.h>

static enum log_level note_level(enum note_kind k)
{
	switch (k) {
	case NOTE_LEADING:
	case NOTE_START:
	case NOTE_WARN:
	case NOTE_STOP:
	case NOTE_SHRINK:
	case NOTE_GROW:
	case NOTE_FINISH:
	case NOTE_CALL_OFF:
	case NOTE_TROUBLE_OVER:
		return LEVEL_INFO;
	case NOTE_RELEASE:
	case NOTE_WAIT:
		return LEVEL_DEBUG;
	case NOTE_REFUSE:
	case NOTE_CUT_SHORT:
	case NOTE_OVERDUE:
	case NOTE_TROUBLE:
	case NOTE_REJECTED_POD:
	case NOTE_HOLD:
	case NOTE_DELETE:
	case NOTE_ADOPT:
	case NOTE_TAKE_IN:
	case NOTE_KEEP_OUT:
		return LEVEL_WARN;
	case NOTE_MASS_STOP:
		return LEVEL_ERROR;
	}
	return LEVEL_INFO;
}

static const char *note_event(enum note_kind k)
{
	switch (k) {
	case NOTE_LEADING:
		return "leading";
	case NOTE_START:
		return "started";
	case NOTE_WARN:
		return "stop-notice";
	case NOTE_STOP:
		return "stopped-job";
	case NOTE_SHRINK:
		return "shrunk";
	case NOTE_GROW:
		return "grown";
	case NOTE_FINISH:
		return "finished";
	case NOTE_CUT_SHORT:
		return "cut-short";
	case NOTE_CALL_OFF:
		return "called-off";
	case NOTE_RELEASE:
		return "released";
	case NOTE_REFUSE:
		return "refused";
	case NOTE_OVERDUE:
		return "overdue";
	case NOTE_WAIT:
		return "waits";
	case NOTE_TROUBLE:
		return "pods-stuck";
	case NOTE_TROUBLE_OVER:
		return "pods-go-on";
	case NOTE_REJECTED_POD:
		return "pod-rejected";
	case NOTE_HOLD:
		return "held";
	case NOTE_DELETE:
		return "deletes-job";
	case NOTE_ADOPT:
		return "adopted";
	case NOTE_TAKE_IN:
		return "adopted-run";
	case NOTE_KEEP_OUT:
		return "not-adopted";
	case NOTE_MASS_STOP:
		return "mass-stop";
	}
	return "?";
}

void note_log(struct log *log, const struct note *n)
{
	char job[600] = "";
	if (!log_shows(log, note_level(n->kind)))
		return;
	bool has_job = n->name && n->name[0];
	if (has_job)
		snprintf(job, sizeof(job), "%s/%s", n->ns, n->name);
	log_event(log, note_level(n->kind), note_event(n->kind), "job", has_job ? job : NULL,
		"queue", n->clusterqueue && n->clusterqueue[0] ? n->clusterqueue : NULL, "#attempt",
		has_job ? LOG_NUMBER(n->attempt) : NULL, "#waited_ms",
		n->kind == NOTE_START ? LOG_NUMBER(n->waited_ms) : NULL, "text", n->text, NULL);
}
