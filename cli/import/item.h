/*
 * One object on its way from Kueue to Sluice, and what is to be said about it.
 *
 * An item is made for each object that is read, and kept until all is printed. Whatever becomes of
 * an object, its item says it: this is the place where "nothing is dropped in silence" is kept.
 *
 *     object: the one that is printed; NULL: nothing is.
 *     notes: each field that is left out, or means something else, and what follows from that.
 *     flags: for sluice-controller, out of Kueue's configuration file.
 *     command: changes an object of the cluster in place (a Job is not made anew).
 *     references: objects of ours that it names; a note tells which of them are refused.
 *     refused: nothing of it was taken; its last note says why.
 *
 * All texts are copied. Each is printed as one line without control characters, so that a value of
 * a manifest can neither end a comment nor move a cursor.
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
	char *value; /* NULL: the flag wants none */
};

struct import_reference {
	char *where, *field;
	char *title; /* of the object that is named */
};

struct import_item {
	char *kind;
	char *title; /* "Job team-a/train" */
	char *where;
	bool refused;
	bool untouched; /* of the cluster, and no concern of Kueue: stays as it is */
	cJSON *object;	/* ours */
	char *command;
	struct import_note *note;
	size_t nnotes;
	struct import_flag *flag;
	size_t nflags;
	struct import_reference *reference;
	size_t nreferences;
	char *negative; /* where a class of negative priority stands; NULL: it is no such class */
	cJSON *clusterqueue_spec; /* spec of a ClusterQueue that was made; else NULL */
};

void item_done(struct import_item *i);

/* Adds a note: where, field, and a sentence without its subject, which is the field. */
void item_note(struct import_item *i, const char *where, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Adds a note and refuses the object: nothing of it is printed. */
void item_refuse(struct import_item *i, const char *where, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void item_flag(struct import_item *i, const char *name, const char *value);
/* Notes that the field names an object of ours. Takes title. */
void item_reference(struct import_item *i, const char *where, const char *field, char *title);

/* Makes the title by which items are found: "Job team-a/train". ns and name may be "". Yours to
 * free. */
char *item_title(const char *kind, const char *ns, const char *name);

/* Appends text so that a comment or a terminal may have it: one line, with '?' for what would end
 * it or move a cursor. */
void item_line(struct buf *out, const char *text);

#endif
