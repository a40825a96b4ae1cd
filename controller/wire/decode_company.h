/* decode_company.c, for decode_template.c: what a pod requires of other pods. Its labels must have
 * been decoded, for matchLabelKeys refer to them. */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_COMPANY_H
#define SLUICE_CONTROLLER_WIRE_DECODE_COMPANY_H

#include "queue/cluster/pod.h"
#include "controller/wire/decode_text.h"

/* Reads the required terms under key, podAffinity or podAntiAffinity. */
const struct affinity_term *affinity_terms_field(struct decoder *d, const struct path *up,
	const cJSON *affinity, const char *key, const struct pod *p, size_t *ret_count);
/* Whether any term, preferred ones too, names or selects namespaces. */
bool affinity_crosses_namespaces(const cJSON *affinity);
const struct spread_constraint *spread_field(struct decoder *d, const struct path *up,
	const cJSON *spec, const struct pod *p, size_t *ret_count);

#endif
