/*
 * A lent pod as it is on its node: its cgroups, what they say, what they are to say.
 *
 * A pod is here from the moment at which its first directory was seen and orders name it, until
 * they do not any more or it is gone. The kubelet makes its directories one after the other (v1: in
 * each hierarchy), and containers' later: what is there is opened as it comes.
 *
 * Others decide what is wanted (share_milli, clamp_bytes). Writes are lent_pod_settle()'s alone, and
 * only what differs is written. Cpu and memory are two lists of steps (node/steps.h): a refusal
 * ends its list for this tick.
 *
 * Times in now_ms and now_us are of a clock that only goes on.
 */
#ifndef SLUICE_AGENT_LENT_POD_H
#define SLUICE_AGENT_LENT_POD_H

#include "agent/lent_cgroup.h"
#include "base/list.h"

struct lent_pod {
	struct site *site;   /* on which it is */
	struct link in_pods; /* struct lent_pods */
	struct uid uid;
	struct lent_cgroup own, *container;
	size_t ncontainers;
	int watch[HIERARCHIES];		 /* of its directories, for containers to come; -1: none */
	struct reading tick, sent, told; /* at the moments of usage.h */
	bool stays;			 /* it is never ended */
	bool limits;			 /* what it asks for is to stand in its cgroups */
	bool lifted;			 /* nothing is, for no order names it */
	int64_t share_milli;   /* what it may have of the cpu it asks for; LIMIT_NONE: all of it */
	int64_t clamp_bytes;   /* memory is held at this; LIMIT_NONE: it is not */
	int64_t over_since_ms; /* it uses more memory than it asked for; 0: it does not */
	bool said_limited;
	int64_t ended_ms; /* when it was last ended; 0: never */
};

/* Makes a pod without a directory. */
struct lent_pod *lent_pod_new(struct site *site, const struct uid *uid);
/* Frees it: files and watches end, what was written stays. */
void lent_pod_free(struct lent_pod *p);

/* Takes what it asks for, from the newest orders. */
void lent_pod_take_order(struct lent_pod *p, const struct ordered_pod *o, bool limits);
/* Opens what is there now of a pod whose directory has this name. False: none of it is. */
bool lent_pod_open(struct lent_pod *p, const char *name);
/* Opens containers that came since. */
void lent_pod_open_containers(struct lent_pod *p);
/* Takes what an agent before this one wrote for what holds: a quota below what the pod asks for,
 * and a clamp. Before the first lent_pod_settle(). */
void lent_pod_adopt(struct lent_pod *p, int64_t now_ms);
/* Gives the cpu that its quota is, as its file said last; LIMIT_NONE: there is none. */
int64_t lent_pod_quota_milli(const struct lent_pod *p);

void lent_pod_read(struct lent_pod *p, int64_t now_us);
/* Whether its cgroup is there still. */
bool lent_pod_is_there(const struct lent_pod *p);

/* Writes what is to be written now. */
void lent_pod_settle(struct lent_pod *p, int64_t now_ms);
/* Takes everything back: no limit, no clamp, the least weight, as the kubelet makes its cgroups;
 * until an order names the pod again. False: a file says something else still, or cannot be
 * read. */
bool lent_pod_lift(struct lent_pod *p, int64_t now_ms);

#endif
