/*
 * A trace in the Standard Workload Format: what ran on a real machine, a line a job.
 *
 * Eighteen numbers a line, -1 for what is not known; lines that begin with ';' are comments, of
 * which "UnixStartTime" says what second 0 is. Plain, or compressed with gzip.
 *
 * A million jobs are an ordinary trace, so a job is a small record here and becomes a struct job
 * only at the moment the queue is told of it.
 */
#ifndef SLUICE_CLI_SIMULATE_TRACE_H
#define SLUICE_CLI_SIMULATE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct trace_job {
	int64_t number;	      /* its name */
	int64_t submit_ms;    /* since the trace's start, divided by the compression */
	int64_t run_ms;	      /* how long it really runs */
	int64_t requested_ms; /* what its owner said; the run time when nothing was said */
	int64_t user;	      /* -1 when not known */
	int32_t processors;
	/* The Job after whose end it was submitted: its number, and after trace_link() its index;
	 * TRACE_NONE: none. So long after that end: divided by the compression, too. */
	int64_t preceding, think_ms;
	int32_t application; /* its number; -1 when not known */
};

struct trace {
	struct trace_job *job; /* by submit time, then in the order of the file */
	size_t njobs;
	size_t nskipped; /* no run time or no processors: they never ran */
	size_t nparts;	 /* lines of parts of jobs, of which the line of the whole job counts */
	int64_t start_ms;
	bool has_preceding; /* some Job has one */
};

#define TRACE_NONE (-1)

#define TRACE_JOBS_MAX 50000000

/* compress: at least 0; submit times are divided by it and, but for 1, rounded down to seconds. */
int trace_read(const char *path, double compress, struct trace *ret, struct err *e);
/* One line, without its end. 1: *ret is set; 0: nothing in it, or a job that never ran or part of one
 * (then counted); negative: the sentence, without file and line. */
int trace_line(struct trace *t, const char *line, double compress, struct err *e);
void trace_sort(struct trace *t);
/* Of a sorted trace: finds the preceding Jobs. One that is not there, or does not come before, is
 * none. */
void trace_link(struct trace *t);
void trace_done(struct trace *t);

#endif
