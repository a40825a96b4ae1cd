/*
 * Accounting: from a pod template to what one pod counts for in quotas.
 *
 * In this order, as Kueue:
 *
 *   - the RuntimeClass's overhead, where the pod has none;
 *   - the LimitRanges' defaults;
 *   - limits stand in for missing requests;
 *   - the request of the pod, as the scheduler counts it;
 *   - excluded resources are removed;
 *   - transformations;
 *   - negative amounts count as zero.
 *
 * A pod that no API server would create (a request above its limit or outside its LimitRanges, an
 * overhead that its RuntimeClass has not) has a fault: a sentence with object, field and cure.
 *
 * Facts about LimitRanges and RuntimeClasses live here; the configuration is the queue's.
 */
#ifndef SLUICE_QUEUE_REQUESTS_ACCOUNTING_H
#define SLUICE_QUEUE_REQUESTS_ACCOUNTING_H

#include "queue/requests/limit_range.h"
#include "sluice/spec.h"

struct accounting {
	struct limit_ranges limit_ranges;
	struct map runtime_classes;
};

void accounting_init(struct accounting *a);
void accounting_done(struct accounting *a);

/* False: nothing is different now. */
bool accounting_set_runtime_class(struct accounting *a, const struct runtime_class_spec *s);
bool accounting_unset_runtime_class(struct accounting *a, const char *name);

/* What one pod of one Job counts for. Borrows from the Job, the facts and the configuration. */
struct account {
	struct resource_list requests; /* sorted by name, zeroes too, `pods` not among them */
	const struct pod *pod;	       /* job.template with all that filled in, or NULL */
	char fault[400];	       /* "", or why no such pod can be created */
	struct arena memory;
};

void account_open(struct account *ret, const struct accounting *a, const struct queue_config *c,
	const struct job *j);
void account_done(struct account *a);

#endif
