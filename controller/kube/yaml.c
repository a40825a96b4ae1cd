#include "controller/kube/yaml.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct yaml {
	yaml_document_t document;
};

int yaml_tree_new(struct slice text, struct yaml **ret_tree, struct err *err)
{
	yaml_parser_t parser;
	struct yaml *y = mem_alloc(sizeof(*y));
	int rc = 0;
	if (!yaml_parser_initialize(&parser)) {
		free(y);
		return err_set(err, ERR_LIMIT, "no memory for a YAML parser");
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.ptr, text.len);
	if (!yaml_parser_load(&parser, &y->document)) {
		/* The parser's problem is a fixed text, never a piece of the file. */
		rc = err_set(err, ERR_INVALID, "not YAML: %s in line %zu",
			parser.problem ? parser.problem : "an error", parser.problem_mark.line + 1);
		free(y);
	} else {
		*ret_tree = y;
	}
	yaml_parser_delete(&parser);
	return rc;
}

/* Overwrites all scalars before libyaml frees them, for the document holds secrets. */
void yaml_tree_free(struct yaml *y)
{
	if (!y)
		return;
	for (yaml_node_t *n = y->document.nodes.start; n < y->document.nodes.top; n++)
		if (n->type == YAML_SCALAR_NODE)
			explicit_bzero(n->data.scalar.value, n->data.scalar.length);
	yaml_document_delete(&y->document);
	free(y);
}

const yaml_node_t *yaml_tree_root(struct yaml *y)
{
	return yaml_document_get_root_node(&y->document);
}

const char *yaml_tree_text(const yaml_node_t *node)
{
	if (!node || node->type != YAML_SCALAR_NODE)
		return NULL;
	const char *text = (const char *)node->data.scalar.value;
	return strlen(text) == node->data.scalar.length ? text : NULL;
}

static bool is_null(const yaml_node_t *node)
{
	if (node->type != YAML_SCALAR_NODE || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	const char *text = (const char *)node->data.scalar.value;
	return !*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0;
}

const yaml_node_t *yaml_tree_get(struct yaml *y, const yaml_node_t *map, const char *key)
{
	if (!map || map->type != YAML_MAPPING_NODE)
		return NULL;
	const yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	for (; pair < map->data.mapping.pairs.top; pair++) {
		const char *k = yaml_tree_text(yaml_document_get_node(&y->document, pair->key));
		if (!k || strcmp(k, key) != 0)
			continue;
		const yaml_node_t *value = yaml_document_get_node(&y->document, pair->value);
		return value && !is_null(value) ? value : NULL;
	}
	return NULL;
}

const yaml_node_t *yaml_tree_item(struct yaml *y, const yaml_node_t *sequence, size_t i)
{
	if (!sequence || sequence->type != YAML_SEQUENCE_NODE)
		return NULL;
	const yaml_node_item_t *start = sequence->data.sequence.items.start;
	if (i >= (size_t)(sequence->data.sequence.items.top - start))
		return NULL;
	return yaml_document_get_node(&y->document, start[i]);
}
