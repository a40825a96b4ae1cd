/*
 * Calendars as a cluster has them, asked of its API server. That needs the least: the right to get
 * (or, without a name, list) calendars.sluice.dev, which `kubectl get calendar` needs as well, and
 * where dates come from a ConfigMap to get that one in the controller's namespace. The controller
 * need not be reached, nor run.
 */
#ifndef SLUICE_CLI_CALENDAR_CLUSTER_H
#define SLUICE_CLI_CALENDAR_CLUSTER_H

#include "base/buf.h"
#include "base/err.h"
#include "cli/simulate/calendar_specs.h"
#include "controller/kube/config.h"

struct ev_loop;

struct cluster {
	struct ev_loop *loop;
	const struct kube_config *config;
	const char *config_namespace; /* of the ConfigMaps */
};

/* The one of that name, or all of them (NULL), onto the shelf. Of all, one that cannot be
 * understood is left out, and complaints has a line about it. ERR_GONE: there is no such Calendar;
 * ERR_BUSY: no answer; ERR_DENIED: we may not; ERR_INVALID: what came makes no sense. */
int cluster_read(const struct cluster *c, const char *name, struct calendar_specs *s,
	struct buf *complaints, struct err *e);

#endif
