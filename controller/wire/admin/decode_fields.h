/*
 * Reads the fields of what admins write, as the rows of sluice/fields/X.def have them: each tag_fields() fills the
 * members of its rows from the object o at `at`. What a row leaves to be said by hand is left as it is.
 *
 * Rows are read in their order, and the first fault is told. A field that is absent becomes what its row says.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_FIELDS_H
#define SLUICE_CONTROLLER_WIRE_DECODE_FIELDS_H

#include "controller/wire/decode_parts.h"
#include "sluice/policy.h"
#include "sluice/spec.h"

#define FIELDS(tag)                                                                                \
	void tag##_fields(                                                                         \
		struct decoder *d, const struct path *at, const cJSON *o, struct tag *ret);

FIELDS(advance_reservation_spec)
FIELDS(clusterqueue_spec)
FIELDS(fungibility_spec)
FIELDS(preemption_spec)
FIELDS(runpolicy_spec)

#undef FIELDS

#endif
