/*
 * Device classes: which resources the scheduler takes from devices (Dynamic Resource Allocation)
 * where a node has none of them.
 *
 * The rule is kube-scheduler's (v1.37, noderesources/fit.go, shouldDelegateResourceToDRA; on by
 * default since 1.36), node by node:
 *
 *   - the node's allocatable has some of it: that counts, and no device does
 *   - it has none, and a DeviceClass has the resource as its spec.extendedResourceName, or is
 *     named by it (deviceclass.resource.kubernetes.io/NAME): NodeResourcesFit passes the node, and
 *     its devices are asked
 *   - else the node lacks it
 *
 * How many devices there are is not followed: that errs on the side of "possible". An API server
 * whose scheduler does not do this (before 1.36) keeps no extendedResourceName, so no class there
 * has one; only of the names with the prefix we would say "possible".
 *
 * The classes are followed, and not guessed, because each guess is false somewhere. "No node has
 * it, so it may be a device's" starts Jobs for a pool that is gone, or for a name that was misspelt
 * in a quota. And it holds a Job for ever where one half of the nodes has a device plugin and the
 * other half a DRA driver, which is how a cluster moves from one to the other. Where the classes
 * may not be read (unknown) it is the guess all the same, for holding what could run is worse.
 */
#ifndef SLUICE_QUEUE_CLUSTER_DEVICE_CLASSES_H
#define SLUICE_QUEUE_CLUSTER_DEVICE_CLASSES_H

#include <stdbool.h>
#include <stddef.h>

#include "sluice/spec.h"

struct device_class {
	char *name, *resource;
};

struct device_classes {
	struct device_class *class; /* in no order: there are a few */
	size_t n;
	bool unknown; /* they may not be read */
};

/* All zero is empty, and known. */
void device_classes_done(struct device_classes *d);
/* False: nothing is different now. */
bool device_classes_set(struct device_classes *d, const struct device_class_spec *s);
bool device_classes_drop(struct device_classes *d, const char *name);

/* Is there a class of that resource? */
bool device_classes_offer(const struct device_classes *d, const char *resource);
/* Returns whether this is the name of an extended resource. None of kubernetes.io itself, but those
 * of classes. */
bool resource_is_extended(const char *resource);

#endif
