/*
 * The files of deploy/ and api/crds/, compiled in (embed.cmake). What is installed is compared with
 * the very files that this program was built with, so nothing here can lag behind.
 */
#ifndef SLUICE_CLI_DEPLOYED_H
#define SLUICE_CLI_DEPLOYED_H

#include <stddef.h>

struct deployed {
	const char *path; /* "deploy/rbac/controller.yaml" */
	const char *text;
};

extern const struct deployed DEPLOYED[];
extern const size_t DEPLOYED_COUNT;

/* Returns the text for Sluice in this namespace instead of sluice-system; yours to free. */
char *deployed_for(const char *text, const char *namespace_name);

#endif
