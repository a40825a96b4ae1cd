/*
 * One object on its way from Kueue to Sluice, and what is to be said about it.
 *
 * An item is made for each object that is read, and kept until all is printed. Whatever becomes of
 * an object, its item says it: this is the place where "nothing is dropped in silence" is kept.
 *
 *     object     what is printed for it; NULL: nothing
 *     notes      a field that is left out, or means something else, and what follows from that
 *     flags      what sluice-controller is to be told (of Kueue's configuration file)
 *     command    what changes an object of the cluster in place (a Job is not made anew)
 *     references which objects of ours it names: one that is refused is said of it, too
 *     refused    nothing of it was taken; its last note says why
 *
 * All texts are copied. What is printed of them is one line without control characters, so that a
 * value of a manifest can neither end a comment nor move a cursor.
 */
#ifndef SLUICE_CLI_IMPORT_ITEM_H
#define SLUICE_CLI_IMPORT_ITEM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/json.h"

struct import_note {
	char *where; /* "kueue.yaml:12" */
	char *field; /* "spec.admissionChecks"; "" for the object itself */
	char *text;  /* "is left out: Jobs start without these checks" */
};

struct import_flag {
	char *name;  /* "--fair-sharing" */
	char *value; /* NULL: it wants none */
};

struct import_reference {
	char *where, *field;
	char *title; /* of what is named */
};

struct import_item {
	char *kind;
	char *title; /* "Job team-a/train" */
	char *where;
	bool refused;
	bool untouched; /* of the cluster, and does not concern Kueue: it stays as it is */
	cJSON *object;	/* ours */
	char *command;
	struct import_note *note;
	size_t nnotes;
	struct import_flag *flag;
	size_t nflags;
	struct import_reference *reference;
	size_t nreferences;
	char *negative; /* a class of negative priority: where that stands; NULL: it is none */
	cJSON *clusterqueue_spec; /* of the object, when it is a ClusterQueue that was made; else NULL */
};

void item_done(struct import_item *i);

/* where, field, and a sentence without its subject, which is the field. */
void item_note(struct import_item *i, const char *where, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same, and nothing of the object is printed. */
void item_refuse(struct import_item *i, const char *where, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void item_flag(struct import_item *i, const char *name, const char *value);
/* It names an object of ours at that field. Takes title. */
void item_reference(struct import_item *i, const char *where, const char *field, char *title);

/* "Job team-a/train", by which items are found; ns and name may be "". The caller's. */
char *item_title(const char *kind, const char *ns, const char *name);

/* What a comment or a terminal may be given of a text: the text on one line, with '?' for what
 * would end that line, for YAML and for a terminal. */
void item_line(struct buf *out, const char *text);

#endif
