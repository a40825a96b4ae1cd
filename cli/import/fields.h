/*
 * A table of fields per kind, and the walk of an object along it.
 *
 * A kind is described by what becomes of each of its fields (struct field). The walk goes through
 * the *input*, field by field, and looks each one up: so a field that the table does not have is
 * found, with its path, and said; it cannot be passed over. A null counts as absent, as everywhere
 * in Kubernetes.
 *
 * One table serves all versions of a kind: where Kueue renamed a field, both names are in it, and
 * an object that has both is refused.
 *
 * What the values mean is not judged here. What was made goes through the decoders of the
 * controller (controller/wire/decode.h) afterwards: they know what Sluice accepts.
 */
#ifndef SLUICE_CLI_IMPORT_FIELDS_H
#define SLUICE_CLI_IMPORT_FIELDS_H

#include "cli/import/item.h"
#include "cli/simulate/documents.h"
#include "controller/settings.h"

/* Where the walk is. */
struct walk {
	struct import_item *item;
	struct object_source *from; /* NULL: of a cluster */
	const char *origin;	    /* then: which */
	bool live;		    /* it is on the cluster, and stays there */
	struct buf path;	    /* "spec.resourceGroups[0]" */
	struct settings *settings;  /* of a Configuration: its flags are tried here */
	bool opts_in;		    /* of one of v1beta1: features are off without `enable: true` */
};

/* A field that no row of a table can describe. to: the object that is made, NULL where none is. */
typedef void field_taker(struct walk *w, const cJSON *value, cJSON *to);

struct field_value {
	const char *theirs, *ours; /* theirs NULL: the end */
};

/* At most one of what follows the name; none: it is taken as it is. */
struct field {
	const char *name;		  /* NULL: the end; "*": every other one */
	bool server;			  /* servers write it: left out without a word */
	const char *meaning;		  /* it has no counterpart, and what follows from that */
	const struct field *within;	  /* its own fields, or those of each of its items */
	const struct field_value *values; /* words that were renamed; others stay */
	field_taker *take;
};

void walk_init(
	struct walk *w, struct import_item *item, struct object_source *from, const char *origin);
void walk_done(struct walk *w);

/* All fields of `in`, into the object `to` (NULL: takers alone). */
void walk_fields(struct walk *w, const struct field *fields, const cJSON *in, cJSON *to);

/* Steps into a field, and back to what walk_step() returned. */
size_t walk_step(struct walk *w, const char *key);
size_t walk_step_item(struct walk *w, size_t index);
void walk_back(struct walk *w, size_t len);

/* About the field where the walk is. */
void walk_note(struct walk *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void walk_refuse(struct walk *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* It names an object of ours: import_settle() looks whether that is refused. "" and NULL are none. */
void walk_reference(struct walk *w, const char *kind, const char *ns, const char *name);
/* Where the walk is, in text of WHERE_SIZE bytes. Returns text. */
const char *walk_where(struct walk *w, char *text);

/* A copy under that name, or a refusal: what a double cannot hold exactly, or a name that is there
 * already. */
void walk_copy(struct walk *w, cJSON *to, const char *name, const cJSON *value);
/* The same of an object that was made; it is to's then. */
void walk_add(struct walk *w, cJSON *to, const char *name, cJSON *made);

/* null, "", {} and [] say nothing, and so do false and 0 where a feature is meant. */
bool says_nothing(const cJSON *value);

#endif
