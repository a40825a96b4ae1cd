/*
 * Calendars as a cluster has them, read from its API server. That needs little: the right to get
 * (or, without a name, list) calendars.sluice.dev, which `kubectl get calendar` needs as well; and
 * where dates come from a ConfigMap, to get it in the controller's namespace. The controller need
 * not run.
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

/* Puts the Calendar of that name, or all of them (NULL), onto the shelf. Of all, a Calendar that
 * makes no sense is left out, with a line in complaints. ERR_GONE: there is no such Calendar;
 * ERR_BUSY: no answer; ERR_DENIED: we may not; ERR_INVALID: what came makes no sense. */
int cluster_read(const struct cluster *c, const char *name, struct calendar_specs *s,
	struct buf *complaints, struct err *e);

#endif
