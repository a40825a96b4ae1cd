/*
 * Following: whether this process has news of Jobs.
 *
 * A decision without news is about Jobs as they were. So after a few seconds without, the gate of a
 * standby does not ask to lead (gate_set_following()). After KIND_STALLED_MS a leader is to give
 * its lease back, so that a controller that can follow Jobs takes over. A process that slept has
 * had no news either, and is not blamed for it (kube/awake.h).
 *
 * An API server whose store was put back (an etcd restored from a snapshot) is believed. But what
 * this process knows is of a time that never was: it ends at once, leader or not, and begins anew,
 * before any other pass. A Job that ended since the snapshot runs again now; a gate that has
 * forgotten its end would stop it as a stranger's.
 */
#ifndef SLUICE_CONTROLLER_WATCH_FOLLOWING_H
#define SLUICE_CONTROLLER_WATCH_FOLLOWING_H

#include <stdbool.h>

#include "controller/gate/gate.h"
#include "controller/common/log.h"
#include "controller/watch/informer.h"

enum following_news {
	FOLLOWING_AS_BEFORE,
	FOLLOWING_CHANGED, /* lost, or back: the gate was told */
	FOLLOWING_GIVE_UP, /* this leader has followed no Jobs for too long; logged */
};

struct following {
	bool lost; /* what the gate was told last */
};

/* Compares the news of Jobs with what the gate was told, once a second. */
enum following_news following_look(
	struct following *f, const struct informer *informer, struct gate *gate, struct log *log);

/* Whether the store went back, which is logged: this process must begin anew. Before each pass. */
bool following_must_begin_anew(
	const struct informer *informer, const struct gate *gate, struct log *log);

#endif
