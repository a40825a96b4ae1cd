/*
 * Settings: the flags that describe how all queues work (struct queue_config), as sluice-controller
 * and `sluice simulate` take them. Names and meaning are those of Kueue's Configuration.
 *
 * A table of flags, so that both programs can put them beside their own: each has a name, says
 * whether it wants a value, and is taken by settings_take(). The config borrows from the settings,
 * and queue_configure() copies it.
 *
 * When a flag is added: the table in settings.c, the help in controller/help/ and cli/help/,
 * docs/guide.md.
 */
#ifndef SLUICE_CONTROLLER_SETTINGS_H
#define SLUICE_CONTROLLER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "sluice/spec.h"

#define SETTINGS_ITEMS_MAX 64

struct settings {
	struct queue_config config;
	bool uncounted_claims; /* struct job_context */
	bool recovery_given;   /* --pods-ready-recovery; else it is as --wait-for-pods-ready */
	char *kept[3 * SETTINGS_ITEMS_MAX]; /* texts that were taken apart; the config borrows */
	size_t nkept;
	struct resource weight[SETTINGS_ITEMS_MAX];
	const char *prefix[SETTINGS_ITEMS_MAX];
	struct transformation_spec transformation[SETTINGS_ITEMS_MAX];
};

void settings_init(struct settings *s); /* the defaults */
void settings_done(struct settings *s);

/* Flags by index; NULL past the last. */
const char *settings_flag(size_t index, bool *ret_wants_value);

/* Takes the flag of that index. ERR_INVALID names flag, value and cure. */
int settings_take(struct settings *s, size_t index, const char *value, struct err *e);

/* After the last flag: what they say together. The config's pointers are good from here on, as long
 * as s stays where it is. */
int settings_finish(struct settings *s, struct err *e);

#endif
