/*
 * An event: one thing that happened to a Job in the simulation, as the engine tells it to those
 * that watch (summary.h, journal.h, chart.h). Borrowed for the call.
 */
#ifndef SLUICE_CLI_SIMULATE_SIM_EVENT_H
#define SLUICE_CLI_SIMULATE_SIM_EVENT_H

#include "cli/simulate/world.h"

enum sim_event_kind {
	SIM_EVENT_ADOPTED, /* it ran from the beginning, and its use counts from here */
	SIM_EVENT_ADMITTED,
	SIM_EVENT_PREEMPTED,
	SIM_EVENT_STOPPED,
	SIM_EVENT_GREW,	  /* it goes on with more pods */
	SIM_EVENT_SHRANK, /* it goes on with fewer */
	SIM_EVENT_FINISHED,
	SIM_EVENT_GIVEN_UP,    /* what it waits for has failed: it is held or deleted, as it asks */
	SIM_EVENT_NOTICE,      /* it runs, and will be stopped: its owner is told */
	SIM_EVENT_UNREACHABLE, /* it waits, and cannot end before its deadline any more; told once */
	SIM_EVENT_WAITING,     /* told at the end, of those that still wait */
};

struct sim_event {
	enum sim_event_kind kind;
	int64_t at_ms;
	size_t sim_job;
	const char *clusterqueue;	/* "" when unknown */
	const struct quota_line *lines; /* what it takes, or gives back, now */
	size_t nlines;
	const char *reason;	     /* "" when there is none */
	const char *message;	     /* WAITING, GIVEN_UP; NULL: the watcher's own words */
	size_t by;		     /* PREEMPTED, SHRANK: for which Job; SIZE_MAX */
	const struct run_bill *bill; /* of a run that has a price, else NULL */
	int64_t lost_ms;	     /* PREEMPTED, STOPPED, SHRANK: of the work of each pod, */
	int32_t lost_pods;	     /* ... of so many */
	int64_t stop_ms;	     /* NOTICE: when it will be stopped */
	int64_t late_ms;	     /* FINISHED: so long after its deadline; 0: in time, or none */
};

#endif
