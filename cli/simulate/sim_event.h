/*
 * An event: one thing that happened to a Job in the simulation, as the engine tells it to those
 * that watch (summary.h, journal.h, chart.h). Borrowed for the call.
 */
#ifndef SLUICE_CLI_SIMULATE_SIM_EVENT_H
#define SLUICE_CLI_SIMULATE_SIM_EVENT_H

#include "cli/simulate/world.h"

enum sim_event_kind {
	SIM_EVENT_ADOPTED, /* the Job ran from the beginning; its use counts from here */
	SIM_EVENT_ADMITTED,
	SIM_EVENT_PREEMPTED,
	SIM_EVENT_STOPPED,
	SIM_EVENT_GREW,	  /* the run goes on with more pods */
	SIM_EVENT_SHRANK, /* the run goes on with fewer pods */
	SIM_EVENT_FINISHED,
	SIM_EVENT_GIVEN_UP,    /* a Job that it waits for has failed: it is held or deleted */
	SIM_EVENT_NOTICE,      /* the run will be stopped: its owner is told */
	SIM_EVENT_UNREACHABLE, /* the Job waits, and cannot meet its deadline any more; told once */
	SIM_EVENT_WAITING,     /* the Job still waits; told at the end */
};

struct sim_event {
	enum sim_event_kind kind;
	int64_t at_ms;
	size_t sim_job;
	const char *clusterqueue;	/* "" when unknown */
	const struct quota_line *lines; /* what the Job takes, or gives back, now */
	size_t nlines;
	const char *reason;	     /* "" when there is none */
	const char *message;	     /* WAITING, GIVEN_UP; NULL: the watcher's own words */
	size_t by;		     /* PREEMPTED, SHRANK: the Job it was for; SIZE_MAX: none */
	const struct run_bill *bill; /* bill of a run that has a price, else NULL */
	int64_t lost_ms;	     /* PREEMPTED, STOPPED, SHRANK: work lost of each pod */
	int32_t lost_pods;	     /* number of pods that lost it */
	int64_t stop_ms;	     /* NOTICE: when the run will be stopped */
	int64_t late_ms;	     /* FINISHED: time after its deadline; 0: in time, or none */
};

#endif
