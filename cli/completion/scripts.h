/* The scripts for shells, compiled in (embed.cmake): sluice.bash, sluice.zsh, sluice.fish. */
#ifndef SLUICE_CLI_COMPLETION_SCRIPTS_H
#define SLUICE_CLI_COMPLETION_SCRIPTS_H

#include <stddef.h>

struct completion_script {
	const char *path; /* its name in this folder */
	const char *text;
};

extern const struct completion_script COMPLETION_SCRIPTS[];
extern const size_t COMPLETION_SCRIPTS_COUNT;

#endif
