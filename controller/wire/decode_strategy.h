/*
 * A layer of overcommit/strategy.h as JSON writes it. The fields and their names are the same in
 * all places where there are layers: in the ConfigMap (both of its keys), in a NodeOvercommit's
 * spec, and in a node's annotation. Unknown fields are the future, not an error; one of
 * the wrong type is a fault that names it, and so is a value that strategy_check() refuses.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_STRATEGY_H
#define SLUICE_CONTROLLER_WIRE_DECODE_STRATEGY_H

#include "controller/wire/decode_text.h"
#include "overcommit/strategy.h"

/* What object says; NULL says nothing. enable: which field that word is for, since under
 * resource-threshold-config it is about taking back. */
struct strategy_layer layer_field(
	struct decoder *d, const struct path *at, const cJSON *object, enum strategy_field enable);

/* b over a. */
struct strategy_layer layer_join(const struct strategy_layer *a, const struct strategy_layer *b);

/* A node's annotation and its two ratio labels (NULL or "": absent). Which of them is passed over
 * stands in *fault, unless something stood there before. */
struct strategy_layer layer_of_node(struct decoder *d, const char *annotation,
	const char *cpu_label, const char *memory_label, const char **fault);

#endif
