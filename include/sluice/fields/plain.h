/*
 * Turns the rows of fields/X.def into rows of sluice/specs.def, for what makes no difference between a
 * duration and a number: copies, comparisons, records. A file that defines a row itself does so before.
 */
#define NAME(m, wire, kind, needed, text) TEXT(m)
#define STRING(m, wire, low, high, needed, text) TEXT(m)
#define GLOBS(m, n, wire, namespaced, text) TEXTS(m, n)
#define FLAG(m, wire, text) VALUE(m)
#ifndef NUMBER
#define NUMBER(m, wire, low, high, absent, why, text) VALUE(m)
#define MAYBE_NUMBER(has, m, wire, low, high, why, text) VALUE(has) VALUE(m)
#define SPAN(m, wire, low, high, absent, why, text) VALUE(m)
#endif
#define CHOICE(m, tag, wire, absent, names, text) ENUM(m, names)
#define NAMES(...) (sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *) - 1)
#define EITHER(m, wire, absent, names, text) VALUE(m)
#define INT32(m) VALUE(m)
#define INT64(m) VALUE(m)
#define BOOL(m) VALUE(m)
#define ENUM_OF(m, tag, last) ENUM(m, last)
#define SELECTOR(has, m, wire) VALUE(has) PART(m, selector_term)
#define WEIGHT(m) VALUE(m)
#define METADATA(m, wire) PART(m, pod_metadata)
#define OBJECT(m, tag, wire) PART(m, tag)
