/*
 * A sample: what an agent tells of its node. What the node used over the last moment, what each
 * lent pod used, and what was done to pods since the controller last said that it knows.
 *
 * Times are lengths. A node's clock may be wrong: the controller takes a sample as of the moment
 * at which it comes in, and window_ms is by a clock that only goes on.
 *
 * Use is measured, never made up: what could not be read is absent, not 0. A pod whose counter
 * went back, or that came during the window, is left out of it.
 */
#ifndef SLUICE_NODE_SAMPLE_H
#define SLUICE_NODE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"
#include "overcommit/load.h"

enum {
	SAMPLE_PODS_MAX = 1024,
	SAMPLE_DEEDS_MAX = 64, /* the oldest go first, and are counted (deeds_lost) */
	SAMPLE_BYTES_MAX =
		192 << 10, /* as JSON: room for so many pods and deeds, whatever they say */
};

/* What a lent pod used over the window. */
struct sampled_pod {
	struct uid uid;
	struct load used;     /* thousandths of a core; bytes of working set */
	int64_t quota_milli;  /* what it may use now; -1: no quota */
	int64_t throttled_ms; /* time for which its threads waited for quota, in the window */
	bool over;	      /* it uses more memory than it asked for */
};

/* What an agent did, or could not do. The sentence of each is the controller's. */
enum deed_kind {
	DEED_LIMITED, /* what it asks for stands in its cgroups */
	DEED_HELD,    /* memory is clamped at `value` bytes */
	DEED_LIFTED,  /* the clamp is gone */
	/* Tells of an end to come, in 20 ms if orders do not change meanwhile, so that the controller can
	 * say so on the pod before it fails. value: bytes in use */
	DEED_ENDING,
	DEED_ENDED,   /* its processes were killed; value: bytes that were in use */
	DEED_REFUSED, /* the kernel took no write: value is the errno */
	DEED_UNDONE,  /* somebody else writes the same file: value is how often in a minute */
	DEED_KINDS,
};
extern const char *const deed_names[DEED_KINDS]; /* "limited" ..., as on the wire */

struct deed {
	int64_t number; /* from 1 on, since the agent began */
	enum deed_kind kind;
	struct uid uid;
	char file[24]; /* of REFUSED and UNDONE: "cpu.max"; else "" */
	int64_t value;
};

/* What of its node the agent cannot do. A set. */
enum {
	LACKS_TIER = 1,	     /* no cgroup of best-effort pods was found */
	LACKS_CPU = 2,	     /* no controller of cpu there */
	LACKS_MEMORY = 4,    /* no controller of memory there */
	LACKS_HOLD = 8,	     /* no memory.high: cgroup v1, where the hard limit is the clamp */
	LACKS_END = 16,	     /* no cgroup.kill: cgroup v1, or a kernel before 5.14 */
	LACKS_IDLE = 32,     /* no cpu.idle, or a driver that it would hinder */
	LACKS_PRESSURE = 64, /* no /proc/pressure */
	LACKS_ALL = 127,
	LACKS = 7, /* how many there are */
};
extern const char *const lack_names[LACKS]; /* bit by bit, as on the wire */

struct sample {
	char boot[UID_TEXT_SIZE]; /* of this run of the agent: a number starts anew with it */
	int64_t number;		  /* from 1 on, in the order in which they were made */
	int64_t window_ms;
	bool has_used;
	struct load used;      /* by the whole node; memory as metrics.k8s.io has it */
	struct load pods_used; /* by all its pods, cgroup kubepods; -1 each: absent */
	int64_t memory_total, memory_available; /* of /proc/meminfo; -1: absent */
	int64_t pressure_us;			/* some memory pressure in the window; -1: absent */
	int64_t may_milli; /* cpu that lent pods may have together; -1: not divided */
	unsigned lacks;	   /* LACKS_* */
	int64_t orders;	   /* the generation that it goes by; 0: none */
	const struct sampled_pod *pods;
	size_t npods;
	const struct deed *deeds; /* oldest first */
	size_t ndeeds;
	int64_t deeds_lost; /* so far */
};

/* Frees a sample that was read: one block. NULL is fine. */
void sample_free(struct sample *s);

#endif
