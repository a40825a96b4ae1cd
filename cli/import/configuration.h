/*
 * Kueue's configuration file (config.kueue.x-k8s.io, v1beta1 and v1beta2): which flags of
 * sluice-controller say the same, and what no flag says.
 *
 * Each flag is tried with the controller's own reader of flags (settings.h), so the controller
 * takes it. Settings of Kueue's own process (webhooks, certificates, leader election) need nothing,
 * and the notes say so.
 */
#ifndef SLUICE_CLI_IMPORT_CONFIGURATION_H
#define SLUICE_CLI_IMPORT_CONFIGURATION_H

#include "cli/import/fields.h"

/* Fills in w->item's flags and notes. */
void import_configuration(struct walk *w, const cJSON *in);

#endif
