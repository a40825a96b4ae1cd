/*
 * A layer of overcommit/strategy.h as JSON writes it. The fields and their names are the same
 * wherever there are layers: in the ConfigMap (both of its keys), in a NodeOvercommit's spec, and
 * in a node's annotation. An unknown field is the future, not an error. A field of the wrong type
 * is a fault that names it, and so is a value that strategy_check() refuses.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_STRATEGY_H
#define SLUICE_CONTROLLER_WIRE_DECODE_STRATEGY_H

#include "controller/wire/decode_text.h"
#include "overcommit/strategy.h"

/* Reads the layer that object is; NULL says nothing. enable is the field that the word "enable"
 * stands for: under resource-threshold-config it is about taking back. */
struct strategy_layer layer_field(
	struct decoder *d, const struct path *at, const cJSON *object, enum strategy_field enable);

/* Puts b over a. */
struct strategy_layer layer_join(const struct strategy_layer *a, const struct strategy_layer *b);

/* Reads a node's annotation and its two ratio labels (NULL or "": absent). The fault of one that is
 * passed over goes to *fault, unless something stood there before. */
struct strategy_layer layer_of_node(struct decoder *d, const char *annotation,
	const char *cpu_label, const char *memory_label, const char **fault);

#endif
