/*
 * The schemas of all that goes into a queue and comes out of it: facts.def, compiled.
 */
#ifndef SLUICE_RECORD_FACTS_H
#define SLUICE_RECORD_FACTS_H

#include "record/schema.h"

/* Of struct queue_call: a line of a record. */
const struct schema *queue_call_schema(void);
/* Of its first line and its last (recorder.h). */
const struct schema *record_header_schema(void);
const struct schema *record_end_schema(void);
/* Of struct zone_span. */
const struct schema *zone_span_schema(void);

/* All of them, for tests; NULL past the last. */
const struct schema *facts_schema(size_t index);

/* "set_job"; NULL past the last. */
const char *queue_call_named(unsigned kind);

#endif
