/*
 * Settings: the flags that describe how all queues work (struct queue_config), as sluice-controller
 * and `sluice simulate` take them. Names and meaning are those of Kueue's Configuration.
 *
 * Their rows are a table that both programs put behind their own (base/flags.h). The config borrows
 * from the settings, and queue_configure() copies it. Its pointers are good once the line was
 * judged, as long as the settings do not move.
 *
 * When a flag is added: the table in settings.c, the help in controller/help/ and cli/help/,
 * docs/guide.md.
 */
#ifndef SLUICE_CONTROLLER_SETTINGS_H
#define SLUICE_CONTROLLER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/flags.h"
#include "sluice/spec.h"

#define SETTINGS_ITEMS_MAX 64

struct settings {
	struct queue_config config;
	bool uncounted_claims;	/* for struct job_context */
	int64_t back_off_limit; /* for config.back_off_limit */
	/* Texts that were taken apart, which the config borrows. */
	char *kept[3 * SETTINGS_ITEMS_MAX];
	size_t nkept;
	struct resource weight[SETTINGS_ITEMS_MAX];
	const char *prefix[SETTINGS_ITEMS_MAX];
	struct transformation_spec transformation[SETTINGS_ITEMS_MAX];
};

extern const struct flag_table settings_flags;

#endif
