/*
 * The command line of `sluice simulate`. Its flags are its own: -f is a file here. Flags that
 * describe how all queues work are the controller's (controller/settings.h).
 */
#ifndef SLUICE_CLI_SIMULATE_OPTIONS_H
#define SLUICE_CLI_SIMULATE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "cli/simulate/world.h"
#include "controller/settings.h"

enum simulate_output { SIMULATE_TABLE, SIMULATE_JSON, SIMULATE_SVG };

enum { MANIFESTS_MAX = 1024 };

struct simulate_options {
	const char *manifest[MANIFESTS_MAX];
	size_t nmanifests;
	const char *trace; /* NULL: none */
	const char *queue; /* NULL: one for each user */
	double compress;
	struct trace_terms terms;
	bool has_until, until_is_time;
	int64_t until_ms; /* after the start, or since the epoch */
	enum simulate_output output;
	struct settings settings;
	bool from_cluster;
	struct kube_config_options kube; /* as kubectl */
	const char *config_namespace;	 /* of ConfigMaps; NULL: not given */
	int64_t assumed_ms;		 /* --assume-duration; 0: absent */
};

/* The flags. Texts point into argv, and the settings' config into the options, which must not
 * move. */
extern const struct flag_table simulate_flags;

#endif
