/*
 * A shadow of a queue: each call that the queue hears is written as into a record, read again, and made
 * on a second queue, at once. What both give must be the same to the byte.
 *
 * Linked with -Wl,--wrap=queue_new,--wrap=queue_free into a test (shadow_all.c), every queue of that
 * test has one.
 */
#ifndef SLUICE_TEST_RECORD_SHADOW_H
#define SLUICE_TEST_RECORD_SHADOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sluice/queue_call.h"

struct shadow;

/* Before the queue's first call. */
struct shadow *shadow_new(struct queue *q);
void shadow_free(struct shadow *s);

/* The first difference; "" while there is none. */
const char *shadow_fault(const struct shadow *s);
uint64_t shadow_heard(const struct shadow *s, enum queue_call_kind kind);
uint64_t shadow_decisions(const struct shadow *s);
uint64_t shadow_bytes(const struct shadow *s); /* of all lines */

#endif
