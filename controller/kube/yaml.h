/*
 * Private to kube/: a YAML document as a tree to look things up in, on libyaml.
 *
 * Only look-ups by key, never a walk over everything: an alias makes the tree a graph, in which a
 * walk may not end. Null and empty plain scalars count as absent.
 */
#ifndef SLUICE_CONTROLLER_KUBE_YAML_H
#define SLUICE_CONTROLLER_KUBE_YAML_H

#include <yaml.h>

#include "base/err.h"
#include "base/slice.h"

struct yaml;

/* Parses the first document of text. An empty text is a document without a root. */
int yaml_tree_new(struct slice text, struct yaml **ret_tree, struct err *err);
void yaml_tree_free(struct yaml *y); /* NULL is fine */

const yaml_node_t *yaml_tree_root(struct yaml *y); /* NULL when empty */

/* Gives what is under key. NULL: absent, null, or map is no mapping (NULL is fine). */
const yaml_node_t *yaml_tree_get(struct yaml *y, const yaml_node_t *map, const char *key);

/* Gives a scalar's text, as long as y lives. NULL: no scalar, or it holds a NUL. */
const char *yaml_tree_text(const yaml_node_t *node);

/* Gives the i-th item of a sequence. NULL: past its end, or no sequence. */
const yaml_node_t *yaml_tree_item(struct yaml *y, const yaml_node_t *sequence, size_t i);

#endif
