/*
 * Turns the rows of fields/X.def into rows of sluice/specs.def, for copies, comparisons and
 * records, to which a duration is a number. A file that has its own NUMBER, MAYBE_NUMBER and SPAN
 * defines them before.
 */
#define META TEXT(name) VALUE(generation) VALUE(deleting)
#define NAME(m, wire, kind, needed, text) TEXT(m)
#define STRING(m, wire, low, high, needed, text) TEXT(m)
#define GLOBS(m, n, wire, namespaced, text) TEXTS(m, n)
#define FLAG(m, wire, text) VALUE(m)
#ifndef NUMBER
#define NUMBER(m, wire, low, high, absent, why, text) VALUE(m)
#define MAYBE_NUMBER(has, m, wire, low, high, why, text) VALUE(has) VALUE(m)
#define SPAN(m, wire, low, high, absent, why, text) VALUE(m)
#endif
#define QUANTITY(m, wire, of, absent, text) VALUE(m)
#define MAYBE_QUANTITY(has, m, wire, of, text) VALUE(has) VALUE(m)
#define CHOICE(m, tag, wire, absent, names, text) ENUM(m, names)
#define NAMES(...) (sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *) - 1)
#define EITHER(m, wire, absent, names, text) VALUE(m)
#define TEXTS_OF(m, n, wire, most, must_be, text) TEXTS(m, n)
#define OBJECTS(m, n, tag, wire, most, text) LIST(m, n, tag)
#define OWN(type, m) VALUE(m)
#define ENUM_OF(m, tag, last) ENUM(m, last)
#define SELECTOR(has, m, wire) VALUE(has) PART(m, selector_term)
#define WEIGHT(m) VALUE(m)
#define METADATA(m, wire) PART(m, pod_metadata)
#define OBJECT(m, tag, wire) PART(m, tag)
#define SAME_OBJECT(m, tag) PART(m, tag)
