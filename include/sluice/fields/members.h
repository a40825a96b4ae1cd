/*
 * Turns the rows of fields/X.def into members of structs, until fields/end.h.
 *
 * A file fields/X.def has the fields of one object that admins write, one row a field. All the rest
 * is made of the row:
 *
 *   - the member of the struct (here), its copy, whether two are the same, and how a record has it
 *     (fields/plain.h);
 *   - what reads it from JSON and refuses it (controller/wire/admin/decode_fields.c), and the
 *     queue's own check of its bounds (queue/job/specs_bounds.c);
 *   - its schema in the CRD and its line in docs/reference.md (api/generate.py; a test compares).
 *
 * A new field is a row, and `api/generate.py`. What the CRD says beside it (a CEL rule that is no
 * bound, a description of the object around it) is written by hand in api/parts/KIND.yaml, and
 * wins over the row.
 *
 *   NAME(m, wire, kind, needed, text)         the name of an object of that kind; "" when absent;
 *   STRING(m, wire, low, high, needed, text)  text of low to high characters; "" when absent;
 *   GLOBS(m, n, wire, namespaced, text)       names of ClusterQueues, or LocalQueues, with * and ?;
 *   FLAG(m, wire, text)                       true or false; false when absent;
 *   NUMBER(m, wire, low, high, absent, why, text)     a whole number of 32 bits;
 *   MAYBE_NUMBER(has, m, wire, low, high, why, text)  a NUMBER of which absent is not 0;
 *   SPAN(m, wire, low, high, absent, why, text)       a duration in ms, written "1h30m";
 *   QUANTITY(m, wire, of, absent, text)       an amount of the resource that the member `of` names;
 *   MAYBE_QUANTITY(has, m, wire, of, text)    a QUANTITY of which absent is no limit;
 *   CHOICE(m, tag, wire, absent, NAMES(...), text)    an enum tag, by the names of its values;
 *   EITHER(m, wire, absent, NAMES(...), text) one of two names; true is the second;
 *   TEXTS_OF(m, n, wire, most, must_be, text) up to `most` texts, of which none is empty;
 *   OBJECTS(m, n, tag, wire, most, text)      up to `most` objects with rows of their own.
 *
 *   wire    the field's name in the object; "start.fit" is fit of start, which has no struct;
 *   absent  WRITTEN(x): the API server writes x where it is absent; UNWRITTEN(x): absent means x;
 *           NEEDED: it must not be absent (QUANTITY alone). Of names, x is the number of one;
 *   needed  NULL, or "write e.g. batch": it must not be absent;
 *   why     NULL, or the end of the sentence about a value beyond the bound that people run into:
 *           "must be at most 1000" and why;
 *   text    what the CRD and the reference say of the field.
 *
 * Rows without a text are described by hand in api/parts/KIND.yaml. Some are read by hand as well,
 * by the decoder of the kind: OWN(type, m), ENUM_OF(m, tag, last). The others:
 *
 *   SELECTOR(has, m, wire)   labels of objects; has: it is there;
 *   WEIGHT(m)                fairSharing.weight;
 *   METADATA(m, wire)        labels and annotations of pods;
 *   OBJECT(m, tag, wire)     an object with a struct and rows of its own;
 *   SAME_OBJECT(m, tag)      a struct whose rows are fields of the object itself.
 *
 * META stands for what each object of ours has in its metadata; generation is what
 * status.observedGeneration will say.
 */
#define META                                                                                       \
	const char *name;                                                                          \
	int64_t generation;                                                                        \
	bool deleting
#define NAME(m, wire, kind, needed, text) const char *m;
#define STRING(m, wire, low, high, needed, text) const char *m;
#define GLOBS(m, n, wire, namespaced, text)                                                        \
	const char *const *m;                                                                      \
	size_t n;
#define FLAG(m, wire, text) bool m;
#define NUMBER(m, wire, low, high, absent, why, text) int32_t m;
#define MAYBE_NUMBER(has, m, wire, low, high, why, text)                                           \
	bool has;                                                                                  \
	int32_t m;
#define SPAN(m, wire, low, high, absent, why, text) int64_t m;
#define QUANTITY(m, wire, of, absent, text) int64_t m;
#define MAYBE_QUANTITY(has, m, wire, of, text)                                                     \
	bool has;                                                                                  \
	int64_t m;
#define CHOICE(m, tag, wire, absent, names, text) enum tag m;
#define EITHER(m, wire, absent, names, text) bool m;
#define TEXTS_OF(m, n, wire, most, must_be, text)                                                  \
	const char *const *m;                                                                      \
	size_t n;
#define OBJECTS(m, n, tag, wire, most, text)                                                       \
	const struct tag *m;                                                                       \
	size_t n;
#define OWN(type, m) type m;
#define ENUM_OF(m, tag, last) enum tag m;
#define SELECTOR(has, m, wire)                                                                     \
	bool has;                                                                                  \
	struct selector_term m;
#define WEIGHT(m) double m;
#define METADATA(m, wire) struct pod_metadata m;
#define OBJECT(m, tag, wire) struct tag m;
#define SAME_OBJECT(m, tag) struct tag m;
