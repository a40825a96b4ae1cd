#include "record/facts.h"

#include "queue/calendar/zone.h"
#include "queue/cluster/nodes.h"
#include "queue/cluster/pod.h"
#include "queue/cluster/resource_quota.h"
#include "record/recorder.h"
#include "sluice/queue_call.h"
#include "sluice/fields/plain.h"

/* ---- Names of values, for people who read a record ---- */

const char *queue_call_named(unsigned kind)
{
#define CALL_NAME(kind, function, needs) [CALL_##kind] = #function,
	static const char *const names[] = {QUEUE_CALLS(CALL_NAME)};
#undef CALL_NAME
	return kind < QUEUE_CALL_KINDS ? names[kind] : NULL;
}

static const char *decision_kind_named(unsigned kind)
{
	static const char *const names[] = {[DECISION_START] = "start",
		[DECISION_STOP] = "stop",
		[DECISION_SHRINK] = "shrink",
		[DECISION_GROW] = "grow",
		[DECISION_HOLD] = "hold",
		[DECISION_DELETE] = "delete",
		[DECISION_NOTICE] = "notice"};
	return kind < sizeof(names) / sizeof(*names) ? names[kind] : NULL;
}

static const char *stop_reason_named(unsigned r)
{
	return r <= STOP_REASON_RESERVED ? stop_reason_name((enum stop_reason)r) : NULL;
}

static const char *preemption_named(unsigned r)
{
	return r <= PREEMPTION_IN_COHORT_RECLAIM_WHILE_BORROWING
		       ? preemption_reason_name((enum preemption_reason)r)
		       : NULL;
}

/* ---- The schemas ---- */

/* An enum is an unsigned here: it does not compile where one has a negative value. */
#define NUMBER_KIND(x)                                                                             \
	_Generic((x), bool                                                                         \
		 : FIELD_BOOL, int                                                                 \
		 : FIELD_SIGNED, long                                                              \
		 : FIELD_SIGNED, unsigned char                                                     \
		 : FIELD_UNSIGNED, unsigned                                                        \
		 : FIELD_UNSIGNED, unsigned long                                                   \
		 : FIELD_UNSIGNED, double                                                          \
		 : FIELD_DOUBLE)
#define MEMBER(m) (any.m) /* its type, never its value */
/* What the rows below measure does not compile where a member is of another type. */
#define PLACE(m) .at = offsetof(self, m), .size = sizeof(MEMBER(m))
#define COUNT(n) .count_at = offsetof(self, n) + 0 * sizeof((size_t *[]){&MEMBER(n)})

#define STRUCT(tag)                                                                                \
	const struct schema *tag##_schema(void);                                                   \
	const struct schema *tag##_schema(void)                                                    \
	{                                                                                          \
		typedef struct tag self;                                                           \
		static const char name[] = #tag;                                                   \
		static self any;                                                                   \
		static const struct field fields[] = {
#define END(tag)                                                                                   \
	}                                                                                          \
	;                                                                                          \
	static const struct schema schema = {                                                      \
		name, sizeof(self), fields, sizeof(fields) / sizeof(*fields)};                     \
	return &schema;                                                                            \
	}
#define VALUE(m) {.name = #m, .kind = NUMBER_KIND(MEMBER(m)), PLACE(m)},
#define UID(m)                                                                                     \
	{.name = #m,                                                                               \
		.kind = FIELD_UID,                                                                 \
		.at = offsetof(self, m),                                                           \
		.size = sizeof(MEMBER(m)) + 0 * sizeof((struct uid *[]){&MEMBER(m)})},
#define ENUM(m, last)                                                                              \
	{.name = #m,                                                                               \
		.kind = FIELD_UNSIGNED,                                                            \
		PLACE(m),                                                                          \
		.most = (last) + 0 * sizeof((unsigned *[]){(unsigned *)&MEMBER(m)})},
#define NAMED(m, json, f) {.name = json, .kind = FIELD_NAMED, PLACE(m), .name_of = f},
#define ENUMS(m, last) {.name = #m, .kind = FIELD_ENUMS, PLACE(m), .most = last},
#define TEXT(m)                                                                                    \
	{.name = #m,                                                                               \
		.kind = FIELD_TEXT,                                                                \
		.at = offsetof(self, m),                                                           \
		.size = sizeof((const char **[]){&MEMBER(m)})},
#define MAYBE(m)                                                                                   \
	{.name = #m,                                                                               \
		.kind = FIELD_MAYBE,                                                               \
		.at = offsetof(self, m),                                                           \
		.size = sizeof((const char **[]){&MEMBER(m)})},
#define TEXT_HERE(m) {.name = #m, .kind = FIELD_TEXT_HERE, PLACE(m)},
#define TEXTS(m, n)                                                                                \
	{.name = #m,                                                                               \
		.kind = FIELD_TEXTS,                                                               \
		.at = offsetof(self, m),                                                           \
		.size = sizeof((const char *const **[]){&MEMBER(m)}),                              \
		COUNT(n)},
#define PART(m, tag)                                                                               \
	{.name = #m,                                                                               \
		.kind = FIELD_PART,                                                                \
		.at = offsetof(self, m),                                                           \
		.size = sizeof((struct tag *[]){&MEMBER(m)}),                                      \
		.of = tag##_schema},
#define ONE(m, tag)                                                                                \
	{.name = #m,                                                                               \
		.kind = FIELD_ONE,                                                                 \
		.at = offsetof(self, m),                                                           \
		.size = sizeof((const struct tag **[]){&MEMBER(m)}),                               \
		.of = tag##_schema},
#define LIST(m, n, tag)                                                                            \
	{.name = #m,                                                                               \
		.kind = FIELD_LIST,                                                                \
		.at = offsetof(self, m),                                                           \
		.size = sizeof((const struct tag **[]){&MEMBER(m)}),                               \
		COUNT(n),                                                                          \
		.of = tag##_schema},
#define MAYBE_LIST(m, n, tag)                                                                      \
	{.name = #m,                                                                               \
		.kind = FIELD_MAYBE_LIST,                                                          \
		.at = offsetof(self, m),                                                           \
		.size = sizeof((const struct tag **[]){&MEMBER(m)}),                               \
		COUNT(n),                                                                          \
		.of = tag##_schema},
#define ZONE(m)                                                                                    \
	{.name = #m,                                                                               \
		.kind = FIELD_ZONE,                                                                \
		.at = offsetof(self, m),                                                           \
		.size = sizeof((const struct zone **[]){&MEMBER(m)})},
#define LEFT_OUT(m) {.name = #m, .kind = FIELD_LEFT_OUT, PLACE(m)},
#define LEFT_OUT_PART(m) LEFT_OUT(m)
#include "record/facts.def"

/* ---- Is any member missing? ----
 *
 * A struct with as many values as the table has members: with one value less than the struct has
 * members it does not compile. The error is "missing initializer for field", of the struct's last
 * member; the one to add to facts.def is the new one. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wmissing-field-initializers"
#define STRUCT(tag)                                                                                \
	static inline size_t tag##_is_whole(void)                                                  \
	{                                                                                          \
		static const struct tag whole = {
#define END(tag)                                                                                   \
	}                                                                                          \
	;                                                                                          \
	return sizeof(whole);                                                                      \
	}
#define VALUE(m) 0,
#define UID(m) {},
#define ENUM(m, last) 0,
#define NAMED(m, json, f) 0,
#define ENUMS(m, last) {},
#define TEXT(m) 0,
#define MAYBE(m) 0,
#define TEXT_HERE(m) {},
#define TEXTS(m, n) 0, 0,
#define PART(m, tag) {},
#define ONE(m, tag) 0,
#define LIST(m, n, tag) 0, 0,
#define MAYBE_LIST(m, n, tag) 0, 0,
#define ZONE(m) 0,
#define LEFT_OUT(m) 0,
#define LEFT_OUT_PART(m) {},
#include "record/facts.def"
#pragma GCC diagnostic pop

/* ---- All of them ---- */

const struct schema *facts_schema(size_t index)
{
	static const struct schema *(*const all[])(void) = {
#define STRUCT(tag) tag##_schema,
#define END(tag)
#define VALUE(m)
#define UID(m)
#define ENUM(m, last)
#define NAMED(m, json, f)
#define ENUMS(m, last)
#define TEXT(m)
#define MAYBE(m)
#define TEXT_HERE(m)
#define TEXTS(m, n)
#define PART(m, tag)
#define ONE(m, tag)
#define LIST(m, n, tag)
#define MAYBE_LIST(m, n, tag)
#define ZONE(m)
#define LEFT_OUT(m)
#define LEFT_OUT_PART(m)
#include "record/facts.def"
	};
	return index < sizeof(all) / sizeof(*all) ? all[index]() : NULL;
}
