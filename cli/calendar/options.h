/* The command line of `sluice calendar`, which asks no controller and has flags of its own. */
#ifndef SLUICE_CLI_CALENDAR_OPTIONS_H
#define SLUICE_CLI_CALENDAR_OPTIONS_H

#include "cli/options.h"

enum calendar_verb { CALENDAR_SHOW, CALENDAR_TEST, CALENDAR_IMPORT };
enum calendar_output { CALENDAR_TEXT, CALENDAR_JSON, CALENDAR_YAML, CALENDAR_DATES };

struct calendar_options {
	enum calendar_verb verb;
	const char *name;		  /* show, test: NULL: all. import: the file */
	struct flag_texts files;	  /* -f; none: the API server is asked */
	struct kube_config_options kube;  /* as kubectl */
	const char *config_namespace;	  /* of ConfigMaps with dates */
	const char *at;			  /* NULL: now */
	const char *tz;			  /* NULL: the calendar's own */
	int first_year, last_year;	  /* import; 0: this one and the four after it */
	const char *exception, *treat_as; /* import */
	enum calendar_output output;
	const char *output_text; /* NULL: not given */
};

extern const struct flag_table calendar_flags;

#endif
