/*
 * The schemas of all that goes into a queue and comes out of it: facts.def, compiled.
 */
#ifndef SLUICE_RECORD_FACTS_H
#define SLUICE_RECORD_FACTS_H

#include "record/schema.h"

/* Return the schemas of struct queue_call, a line of a record, and of a record's first line and
 * last (recorder.h). */
const struct schema *queue_call_schema(void);
const struct schema *record_header_schema(void);
const struct schema *record_end_schema(void);
const struct schema *zone_span_schema(void); /* struct zone_span */

/* Returns any of the schemas, for tests; NULL past the last. */
const struct schema *facts_schema(size_t index);

/* Returns the name of a kind of call, "set_job"; NULL past the last. */
const char *queue_call_named(unsigned kind);

#endif
