/* The state of one kind that is followed: for /readyz and /metrics. */
#ifndef SLUICE_CONTROLLER_WATCH_KIND_HEALTH_H
#define SLUICE_CONTROLLER_WATCH_KIND_HEALTH_H

#include <stdint.h>

struct kind_health {
	const char *name;    /* plural */
	uint64_t unreadable; /* objects that could not be read, or were refused, so far */
	int64_t stalled_ms;  /* for how long it has not been followed; 0: it is */
};

enum {
	KIND_HEALTH_MAX = 32,	 /* more than there are kinds */
	KIND_STALE_MS = 5000,	 /* from then on /readyz names the kind */
	KIND_STALLED_MS = 60000, /* from then on a leader without Jobs is not ready, and goes */
};

#endif
