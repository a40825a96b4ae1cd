/*
 * Named objects: records of a kind, in the order of their names: Cohorts, RunPolicies, Calendars,
 * PricePlans, Budgets, AdvanceReservations.
 *
 * The record of each such kind embeds a struct named_object, and one struct named_objects has all
 * records of the kind. Decisions and views go over them by name, so nothing depends on the order
 * in which they were told.
 *
 * What is always true:
 *
 *   - a name is there once, and never changes
 *   - serials count up from 1. They stand for records where an address must not: in the shape of
 *     trees, and between alarms of one time
 *   - `invalid` says what is wrong with the newest spec. Mostly that was refused, and the spec before
 *     it, if there is one, stays in force
 *
 * Each kind decides by itself when a record is made and freed. It keeps the spec in force, and
 * tells those who must hear of an edit.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_NAMED_OBJECT_H
#define SLUICE_QUEUE_CORE_MODEL_NAMED_OBJECT_H

#include "base/list.h"
#include "base/tree.h"

struct queue;

struct named_object {
	char *name;
	uint64_t serial;
	struct tree_node by_name;
	char *invalid; /* NULL: nothing is wrong with the newest spec */
};

struct named_objects {
	struct tree by_name;
	uint64_t serials;
};

void named_objects_init(struct named_objects *all);

/* Find one of them; NULL: there is none. */
struct named_object *named_object_find(const struct named_objects *all, const char *name);
struct named_object *named_object_at(const struct named_objects *all, size_t index);
struct named_object *named_object_next(const struct named_object *o);

/* Gives a new record its name and serial, and puts it in its place. No other has that name. */
void named_object_enter(struct named_objects *all, struct named_object *o, const char *name);
/* Takes the record out, and frees its name and sentence. The caller frees the record. */
void named_object_leave(struct named_objects *all, struct named_object *o);

/* Keeps the sentence about the newest spec; NULL: nothing is wrong with it. */
void named_object_set_invalid(struct named_object *o, const char *sentence);
/* Keeps the sentence, and counts a new version of the queue. */
void named_object_refuse(struct queue *q, struct named_object *o, const char *sentence);

#endif
