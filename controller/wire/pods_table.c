#include "controller/wire/pods_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/wire/decode_parts.h"

#define NO_NODE "<none>" /* in its column */

bool pods_table_is(const cJSON *root)
{
	const char *kind = json_text(root, "kind");
	const cJSON *rows = json_get(root, "rows");
	return kind && strcmp(kind, "Table") == 0 && (!rows || cJSON_IsArray(rows));
}

/* -1: there is no such column. */
static int column_of_nodes(const cJSON *table)
{
	int column = 0;
	json_each(c, json_array(table, "columnDefinitions")) {
		const char *name = json_text(c, "name");
		if (name && strcmp(name, "Node") == 0)
			return column;
		column++;
	}
	return -1;
}

static bool is_of(const cJSON *pod, const struct uid *job)
{
	struct uid owner;
	return meta_owner_job(pod, &owner) && uid_cmp(&owner, job) == 0 && !meta_deleting(pod);
}

static void add(struct pod_nodes *p, const char *node)
{
	if (p->n == p->cap) {
		p->cap = p->cap > 0 ? 2 * p->cap : 16;
		p->name = mem_grow(p->name, p->cap, sizeof(*p->name));
	}
	p->name[p->n++] = mem_strdup(node);
}

void pods_table_read(const cJSON *table, const struct uid *job, struct pod_nodes *ret)
{
	int column = pods_table_is(table) ? column_of_nodes(table) : -1;
	json_each(row, column < 0 ? NULL : json_array(table, "rows")) {
		const cJSON *cell = cJSON_GetArrayItem(json_array(row, "cells"), column);
		const char *node = cJSON_GetStringValue(cell);
		if (node && node[0] && strcmp(node, NO_NODE) != 0 &&
			is_of(json_object(row, "object"), job))
			add(ret, node);
	}
}

void pod_nodes_done(struct pod_nodes *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->name[i]);
	free(p->name);
	*p = (struct pod_nodes){0};
}
