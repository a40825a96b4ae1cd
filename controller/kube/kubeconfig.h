/*
 * Private to kube/: kubeconfig files, merged as client-go does, and the one context of them that is
 * used. Of several entries with one name the first file's counts, whole.
 */
#ifndef SLUICE_CONTROLLER_KUBE_KUBECONFIG_H
#define SLUICE_CONTROLLER_KUBE_KUBECONFIG_H

#include "controller/kube/config.h"

struct kubeconfig;

struct kubeconfig *kubeconfig_new(void);
void kubeconfig_free(struct kubeconfig *k); /* NULL is fine */

/* Adds a file, ranked behind those that are there. text is not needed afterwards. */
int kubeconfig_add(struct kubeconfig *k, const char *path, struct slice text, struct err *err);

int kubeconfig_resolve(struct kubeconfig *k, const struct kube_config_options *options,
	struct kube_config **ret_config, struct err *err);

#endif
