#include "controller/watch/following.h"

#include "controller/watch/kind_health.h"

enum {
	LOST_MS = 10000
}; /* a standby that has not followed Jobs for so long does not ask to lead */

static void log_giving_up(struct log *log, int64_t stalled_ms)
{
	log_event(log, LEVEL_ERROR, "cannot-follow", "kind", "jobs", "#seconds",
		LOG_NUMBER(stalled_ms / 1000), "why",
		"the API server tells nothing of Jobs (watch-trouble says what it answers)",
		"effect",
		"the lease is given back, so that a controller that can follow them takes over; running Jobs go on",
		"cure",
		"see that this machine reaches the API server, and that its credentials are good; no more than that: it starts again as a standby",
		NULL);
}

static void log_beginning_anew(struct log *log)
{
	log_event(log, LEVEL_ERROR, "store-went-back", "why",
		"the API server shows Jobs as they were before: its etcd was put back to an older snapshot",
		"effect",
		"this process ends and begins anew, and goes by what it reads then; running Jobs go on",
		"cure",
		"none is needed here; restart the rest of the control plane as well (docs/restore.md)",
		NULL);
}

enum following_news following_look(
	struct following *f, const struct informer *informer, struct gate *gate, struct log *log)
{
	int64_t stalled_ms = informer_jobs_stalled_ms(informer);
	bool lost = stalled_ms >= LOST_MS, changed = lost != f->lost;
	gate_set_following(gate, !lost);
	f->lost = lost;
	if (stalled_ms >= KIND_STALLED_MS && gate_leading(gate)) {
		log_giving_up(log, stalled_ms);
		return FOLLOWING_GIVE_UP;
	}
	return changed ? FOLLOWING_CHANGED : FOLLOWING_AS_BEFORE;
}

bool following_must_begin_anew(
	const struct informer *informer, const struct gate *gate, struct log *log)
{
	if (!informer_went_back(informer) && !gate_store_went_back(gate))
		return false;
	log_beginning_anew(log);
	return true;
}
