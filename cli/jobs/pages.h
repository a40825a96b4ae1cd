/*
 * The pages of a list of QueuedJobs, all of one moment: asked for one after the other, and added to a
 * report.
 */
#ifndef SLUICE_CLI_JOBS_PAGES_H
#define SLUICE_CLI_JOBS_PAGES_H

#include "cli/jobs/options.h"
#include "cli/jobs/report.h"
#include "cli/question.h"

/* Adds all that o asks for in namespace ns, unless that is all of them; user: submitted by that one, NULL:
 * by anybody. When the controller has
 * forgotten the moment of the first pages, it begins once more. Errors are those of
 * visibility_ask(). */
int jobs_pages_read(struct ev_loop *loop, struct kube_client *client, const char *ns,
	const char *user, const struct jobs_options *o, struct jobs_report *report, struct err *e);

#endif
