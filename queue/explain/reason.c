/* The names of reasons, as people and Kueue's conditions know them. */
#include "sluice/queue.h"

const char *stop_reason_name(enum stop_reason r)
{
	static const char *const names[] = {
		"",
#define STOP_REASON(tag, name, when, cure) name,
#include "sluice/reasons.def"
	};
	return r < sizeof(names) / sizeof(*names) ? names[r] : "";
}

const char *preemption_reason_name(enum preemption_reason r)
{
	static const char *const names[] = {
		"",
#define PREEMPTION_REASON(tag, name, when) name,
#include "sluice/reasons.def"
	};
	return r < sizeof(names) / sizeof(*names) ? names[r] : "";
}

const char *wait_reason_name(enum wait_reason r)
{
	static const char *const names[] = {
#define WAIT_REASON(tag, name, phrase, when, cure) name,
#include "sluice/reasons.def"
	};
	return names[r];
}

bool wait_reason_needs_change(enum wait_reason r)
{
	return r == WAIT_DEACTIVATED || r == WAIT_HELD || r == WAIT_MISCONFIGURED ||
	       r == WAIT_NO_MATCHING_FLAVOR || r == WAIT_SUSPENDED || r == WAIT_NEVER_FITS ||
	       r == WAIT_EXCEEDS_MAX || r == WAIT_DEPENDENCY_NEVER;
}

const char *wait_reason_phrase(enum wait_reason r)
{
	static const char *const phrases[] = {
#define WAIT_REASON(tag, name, phrase, when, cure) phrase,
#include "sluice/reasons.def"
	};
	return phrases[r];
}

const char *wait_reason_cure(enum wait_reason r)
{
	static const char *const cures[] = {
#define WAIT_REASON(tag, name, phrase, when, cure) cure,
#include "sluice/reasons.def"
	};
	return cures[r];
}
