/* The scripts for shells, compiled in: sluice.bash, sluice.zsh, sluice.fish. */
#ifndef SLUICE_CLI_COMPLETION_SCRIPTS_H
#define SLUICE_CLI_COMPLETION_SCRIPTS_H

#include <stddef.h>

#include "base/embedded.h"

extern const struct embedded COMPLETION_SCRIPTS[];
extern const size_t COMPLETION_SCRIPTS_COUNT;

#endif
