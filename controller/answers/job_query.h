/*
 * A question about QueuedJobs: path and parameters of a request, taken apart and checked.
 *
 *   /apis/visibility.sluice.dev/v1alpha1/queuedjobs
 *   /apis/visibility.sluice.dev/v1alpha1/namespaces/NS/queuedjobs[/NAME]
 *   /apis/visibility.sluice.dev/v1alpha1/clusterqueues/NAME/queuedjobs
 *
 * The struct is of a fixed size, so that it goes to the reader as it is.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_JOB_QUERY_H
#define SLUICE_CONTROLLER_ANSWERS_JOB_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/common/visibility_names.h"
#include "sluice/job.h"

enum { JOB_QUERY_TEXT_MAX = 1024 };

enum job_query_form {
	FORM_OBJECTS,
	FORM_TABLE,	    /* with the metadata of each object */
	FORM_TABLE_ALONE,   /* includeObject=None */
	FORM_TABLE_OBJECTS, /* includeObject=Object */
};

/* What the reader is to say of these Jobs. */
enum job_query_ask {
	ASK_LIST,
	ASK_ROWS,     /* watch_rows.h */
	ASK_EVENTS,   /* behind the query: struct job_query_events, then orders of watch_rows.h */
	ASK_TIMELINE, /* timeline.h; ns, clusterqueue and span_ms say of what */
	ASK_SUMMARY,  /* summary.h; ns and by say of what */
	ASK_NODES,    /* node_report.h */
	ASK_QUEUES,   /* queues.h; ns says of what */
};

/* By what a summary groups Jobs. */
enum summary_by {
	SUMMARY_BY_QUEUE,
	SUMMARY_BY_USER,
	SUMMARY_BY_SWEEP,
	SUMMARY_BY_NAMESPACE,
};

struct job_query_events {
	bool with_columns; /* in the first event, if it is a Table */
};

struct job_query {
	enum job_query_ask ask;
	bool one;		/* the path names one Job */
	char path_ns[64];	/* of the path: the question waits for this namespace's turn */
	char ns[64];		/* of the path or of a field selector; "": all */
	char name[254];		/* "": any */
	char clusterqueue[254]; /* "": any */
	char localqueue[254];	/* field selector spec.queue; "": any */
	char submitted_by[SUBMITTER_MAX_BYTES + 1]; /* field selector spec.submittedBy; "": any */
	char state[16];				    /* field selector status.state; "": any */
	char not_state[16];			    /* status.state!=; "": none */
	char trouble[32];			    /* status.trouble.reason=; "": any or none */
	bool in_trouble;			    /* status.trouble.reason!= (and nothing): any */
	char labels[JOB_QUERY_TEXT_MAX];	    /* a label selector that parses; "": all */
	enum job_query_form form;
	bool takes_gzip; /* of a list */
	int64_t span_ms; /* of a timeline: so long from now on */
	enum summary_by by;
	size_t limit;	 /* 0: all */
	size_t first;	 /* number of Jobs before this page */
	uint64_t moment; /* of the reader that gave the earlier pages; 0: this is the first */
};

/* Parameters and headers of the request; NULL: not given. */
struct job_query_words {
	const char *accept, *include_object, *label_selector, *field_selector, *limit, *token;
};

/* True if it is a path of QueuedJobs at all: then *ret has what the path says. */
bool job_query_path(const char *path, struct job_query *ret);
/* True if it is .../namespaces/NS/queuedjobs/NAME/start (start_review.h). */
bool job_query_start_path(const char *path, char ret_ns[64], char ret_name[254]);
/* Takes the words into q. ERR_INVALID: a sentence that names the parameter and what would be right.
 * ERR_GONE: no form that the client accepts is served. */
int job_query_take(struct job_query *q, const struct job_query_words *w, struct err *e);

/* The longest stretch that a timeline shows, as the week of a ClusterQueue. */
#define TIMELINE_SPAN_MAX_MS (INT64_C(7) * 24 * 3600 * 1000)
/* Takes the parameters of a timeline (NULL: not given) into q, which has the namespace of the path.
 * ERR_INVALID: a sentence that names the parameter and what would be right. */
int job_query_take_timeline(
	struct job_query *q, const char *until, const char *clusterqueue, struct err *e);

/* Writes the token for the page from `first` on: "MOMENT.FIRST". The page for browsers makes such
 * tokens itself, to jump to any place of a long line (controller/page/assets/api.js). */
#define JOB_QUERY_TOKEN_SIZE 48
const char *job_query_token(uint64_t moment, size_t first, char ret[JOB_QUERY_TOKEN_SIZE]);

#endif
