/*
 * A trace in the Standard Workload Format: what ran on a real machine, a line a job.
 *
 * A line has eighteen numbers, -1 for what is not known. Lines that begin with ';' are comments, of
 * which "UnixStartTime" says what second 0 is. The file is plain, or compressed with gzip.
 *
 * A million jobs are an ordinary trace. So a job is a small record here and becomes a struct job
 * only at the moment the queue is told of it.
 */
#ifndef SLUICE_CLI_SIMULATE_TRACE_H
#define SLUICE_CLI_SIMULATE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct trace_job {
	int64_t number;	      /* the job's name */
	int64_t submit_ms;    /* since the trace's start, divided by the compression */
	int64_t run_ms;	      /* real run time */
	int64_t requested_ms; /* asked for; run_ms when nothing was */
	int64_t user;	      /* -1 when not known */
	int32_t processors;
	/* The job after whose end this one was submitted: its number, and after trace_link() its
	 * index; TRACE_NONE: none. think_ms is the time from that end, divided by the
	 * compression. */
	int64_t preceding, think_ms;
	int32_t application; /* number; -1 when not known */
};

struct trace {
	struct trace_job *job; /* by submit time, then in the order of the file */
	size_t njobs;
	size_t nskipped; /* jobs that never ran: no run time, or no processors */
	size_t nparts;	 /* lines of parts of jobs, beside that of the whole */
	int64_t start_ms;
	bool has_preceding; /* some job has a preceding one */
};

#define TRACE_NONE (-1)

#define TRACE_JOBS_MAX 50000000

/* Reads a trace. compress: at least 0; submit times are divided by it and, but for 1, rounded down
 * to seconds. */
int trace_read(const char *path, double compress, struct trace *ret, struct err *e);
/* Reads one line, without its end. 1: a job was added; 0: there is none in it, or one that never
 * ran, or a part of one (then counted); negative: the sentence, without file and line. */
int trace_line(struct trace *t, const char *line, double compress, struct err *e);
void trace_sort(struct trace *t);
/* Finds the preceding jobs in a sorted trace. One that is not there, or does not come before, is
 * none. */
void trace_link(struct trace *t);
void trace_done(struct trace *t);

#endif
