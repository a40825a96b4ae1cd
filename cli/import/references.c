#include "cli/import/references.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "cli/import/import.h"
#include "controller/wire/decode.h"
#include "sluice/keys.h"

/* ---- what an object names -------------------------------------------------------------------- */

static void refer(
	struct walk *w, const char *field, const char *kind, const char *ns, const char *name)
{
	size_t back = walk_step(w, field);
	walk_reference(w, kind, ns, name);
	walk_back(w, back);
}

static void refer_to_flavors(struct walk *w, const cJSON *spec)
{
	char field[80];
	size_t group = 0;
	json_each(g, json_array(spec, "resourceGroups")) {
		size_t flavor = 0;
		json_each(f, json_array(g, "flavors")) {
			snprintf(field, sizeof(field), "spec.resourceGroups[%zu].flavors[%zu].name",
				group, flavor++);
			refer(w, field, "ResourceFlavor", "", json_text(f, "name"));
		}
		group++;
	}
}

void references_of_kind(struct walk *w, const char *kind, const cJSON *made)
{
	const cJSON *spec = json_object(made, "spec");
	refer_to_flavors(w, spec);
	refer(w, "spec.cohortName", "Cohort", "", json_text(spec, "cohortName"));
	refer(w, "spec.parentName", "Cohort", "", json_text(spec, "parentName"));
	if (strcmp(kind, "LocalQueue") == 0)
		refer(w, "spec.clusterQueue", "ClusterQueue", "", json_text(spec, "clusterQueue"));
}

void references_of_job(struct walk *w, const cJSON *made, bool is_cronjob)
{
	const char *ns = decode_namespace_of(made);
	const cJSON *job =
		is_cronjob ? json_object(json_object(made, "spec"), "jobTemplate") : made;
	const cJSON *labels = json_object(json_object(job, "metadata"), "labels");
	size_t back = is_cronjob ? walk_step(w, "spec.jobTemplate") : w->path.len;
	refer(w, "metadata.labels." QUEUE_LABEL, "LocalQueue", ns, json_text(labels, QUEUE_LABEL));
	refer(w, "metadata.labels." PRIORITY_LABEL, "WorkloadPriorityClass", "",
		json_text(labels, PRIORITY_LABEL));
	walk_back(w, back);
}

static void note_refused(struct import *i, const char *const *refused, size_t n)
{
	for (size_t k = 0; k < i->nitems; k++) {
		struct import_item *item = &i->item[k];
		for (size_t r = 0; r < item->nreferences && !item->refused; r++) {
			const struct import_reference *ref = &item->reference[r];
			const char *title = ref->title;
			if (!item->untouched &&
				bsearch(&title, refused, n, sizeof(*refused), text_order))
				item_note(item, ref->where, ref->field,
					"names %s, which is refused: make that by hand, or name another",
					title);
		}
	}
}

static void settle_references(struct import *i)
{
	const char **refused = mem_array(i->nitems + 1, sizeof(*refused));
	size_t n = 0;
	for (size_t k = 0; k < i->nitems; k++)
		if (i->item[k].refused)
			refused[n++] = i->item[k].title;
	qsort(refused, n, sizeof(*refused), text_order);
	note_refused(i, refused, n);
	free(refused);
}

/* ---- negative priorities --------------------------------------------------------------------- */

void note_negative(struct walk *w, const cJSON *value)
{
	char where[WHERE_SIZE];
	if (!cJSON_IsNumber(value) || value->valuedouble >= 0)
		return;
	free(w->item->negative);
	w->item->negative = mem_strdup(walk_where(w, where));
}

/* Gives gapFillers: {} to each ClusterQueue that is printed. False: there is none. */
static bool keep_gap_fillers_out(struct import *i)
{
	bool any = false;
	for (size_t k = 0; k < i->nitems; k++) {
		struct import_item *item = &i->item[k];
		if (item->refused || !cJSON_IsObject(item->clusterqueue_spec))
			continue;
		must(cJSON_AddObjectToObject(item->clusterqueue_spec, "gapFillers"));
		any = true;
	}
	return any;
}

static void settle_priorities(struct import *i)
{
	bool negative = false;
	for (size_t k = 0; k < i->nitems; k++)
		negative = negative || i->item[k].negative;
	if (!negative || keep_gap_fillers_out(i))
		return;
	for (size_t k = 0; k < i->nitems; k++)
		if (i->item[k].negative)
			item_note(&i->item[k], i->item[k].negative, "value",
				"is negative: such Jobs only fill gaps, they preempt nothing and give back what they borrow; gapFillers: {} in the spec of a ClusterQueue makes them Jobs like any other, as in Kueue");
}

void import_settle(struct import *i)
{
	if (i->source == IMPORT_CRANE)
		crane_settle(i);
	settle_references(i);
	settle_priorities(i);
}
