/* The names of reasons, as people and Kueue's conditions know them. */
#include "sluice/queue.h"

#include <string.h>

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

enum wait_reason wait_reason_named(const char *name)
{
	static const enum wait_reason all[] = {
#define WAIT_REASON(tag, name, phrase, when, cure) WAIT_##tag,
#include "sluice/reasons.def"
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(wait_reason_name(all[i]), name) == 0)
			return all[i];
	return WAIT_NOT;
}

bool wait_reason_never_starts(enum wait_reason r)
{
	return r == WAIT_NO_MATCHING_FLAVOR || r == WAIT_NEVER_FITS || r == WAIT_EXCEEDS_MAX ||
	       r == WAIT_DEPENDENCY_NEVER;
}

bool wait_reason_needs_change(enum wait_reason r)
{
	return wait_reason_never_starts(r) || r == WAIT_DEACTIVATED || r == WAIT_HELD ||
	       r == WAIT_MISCONFIGURED || r == WAIT_SUSPENDED;
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
