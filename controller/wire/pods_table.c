#include "controller/wire/pods_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "controller/wire/decode_parts.h"

#define NO_NODE "<none>" /* in its column */

bool pods_table_is(const cJSON *root)
{
	const cJSON *rows = json_get(root, "rows");
	return json_is(root, "kind", "Table") && (!rows || cJSON_IsArray(rows));
}

/* Finds the column with the nodes; -1: there is none. */
static int column_of_nodes(const cJSON *table)
{
	int column = 0;
	json_each(c, json_array(table, "columnDefinitions")) {
		if (json_is(c, "name", "Node"))
			return column;
		column++;
	}
	return -1;
}

/* Reads a pod's Job and node. False: no Job controls it, it is being deleted, or it has no node. */
static bool read_place(const cJSON *row, int column, struct pod_place *ret)
{
	const cJSON *pod = json_object(row, "object");
	ret->node = cJSON_GetStringValue(cJSON_GetArrayItem(json_array(row, "cells"), column));
	return ret->node && ret->node[0] && strcmp(ret->node, NO_NODE) != 0 &&
	       meta_owner_job(pod, &ret->job) && !meta_deleting(pod);
}

static void add(struct pod_nodes *p, const char *node)
{
	p->name = mem_room(p->name, p->n, &p->cap, 16, sizeof(*p->name));
	p->name[p->n++] = mem_strdup(node);
}

void pods_table_read(const cJSON *table, const struct uid *job, struct pod_nodes *ret)
{
	int column = pods_table_is(table) ? column_of_nodes(table) : -1;
	json_each(row, column < 0 ? NULL : json_array(table, "rows")) {
		struct pod_place place;
		if (read_place(row, column, &place) && uid_cmp(&place.job, job) == 0)
			add(ret, place.node);
	}
}

static int by_job(const void *a, const void *b)
{
	const struct pod_place *x = a, *y = b;
	return uid_cmp(&x->job, &y->job);
}

void pod_places_read(const cJSON *table, struct pod_places *ret)
{
	int column = pods_table_is(table) ? column_of_nodes(table) : -1;
	*ret = (struct pod_places){0};
	json_each(row, column < 0 ? NULL : json_array(table, "rows")) {
		ret->place = mem_room(ret->place, ret->n, &ret->cap, 64, sizeof(*ret->place));
		ret->n += read_place(row, column, &ret->place[ret->n]);
	}
	if (ret->n > 0)
		qsort(ret->place, ret->n, sizeof(*ret->place), by_job);
	ret->node = mem_array(ret->n, sizeof(*ret->node));
	for (size_t i = 0; i < ret->n; i++)
		ret->node[i] = ret->place[i].node;
}

size_t pod_places_of(
	const struct pod_places *p, const struct uid *job, const char *const **ret_node)
{
	size_t first = 0, end = p->n;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		if (uid_cmp(&p->place[middle].job, job) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	while (end < p->n && uid_cmp(&p->place[end].job, job) == 0)
		end++;
	*ret_node = p->n > 0 ? p->node + first : NULL;
	return end - first;
}

void pod_places_done(struct pod_places *p)
{
	free(p->place);
	free(p->node);
	*p = (struct pod_places){0};
}

void pod_nodes_done(struct pod_nodes *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->name[i]);
	free(p->name);
	*p = (struct pod_nodes){0};
}
