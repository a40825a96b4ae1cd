/*
 * Reads the pages of a list of QueuedJobs, all of one moment, into a report.
 */
#ifndef SLUICE_CLI_JOBS_PAGES_H
#define SLUICE_CLI_JOBS_PAGES_H

#include "cli/jobs/options.h"
#include "cli/jobs/report.h"
#include "cli/question.h"

/* Adds the Jobs that o asks for in namespace ns, or in all. user: only Jobs that this user
 * submitted; NULL: by anybody. Begins once more when the controller has forgotten the moment of the
 * first pages. Errors are those of visibility_ask(). */
int jobs_pages_read(struct ev_loop *loop, struct kube_client *client, const char *ns,
	const char *user, const struct jobs_options *o, struct jobs_report *report, struct err *e);

#endif
