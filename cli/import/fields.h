/*
 * A table of fields per kind, and the walk of an object along it.
 *
 * The table says what becomes of each field of a kind (struct field). The walk goes through the
 * *input*, field by field, and looks each one up. So a field that the table does not have is found
 * and told with its path; it cannot be passed over. A null counts as absent, as everywhere in
 * Kubernetes.
 *
 * One table serves all versions of a kind. Where Kueue renamed a field, both names are in it, and
 * an object that has both is refused.
 *
 * What the values mean is not judged here. The result goes through the decoders of the controller
 * (controller/wire/decode.h), which know what Sluice accepts.
 */
#ifndef SLUICE_CLI_IMPORT_FIELDS_H
#define SLUICE_CLI_IMPORT_FIELDS_H

#include "cli/import/item.h"
#include "cli/simulate/documents.h"
#include "controller/settings.h"

struct crane;

struct walk {
	const char *whose; /* "Kueue": whose fields they are */
	struct import_item *item;
	struct object_source *from; /* NULL: the object is of a cluster */
	const char *origin;	    /* where from NULL: which cluster */
	bool live;		    /* the object is on the cluster, and stays there */
	struct buf path;	    /* "spec.resourceGroups[0]" */
	struct settings *settings;  /* of a Configuration: where its flags are tried */
	struct crane *crane;	    /* of Crane's: what came so far */
	bool opts_in; /* a Configuration of v1beta1: features are off without `enable: true` */
};

/* Takes a field that no row can describe. to: the object that is made, NULL where none is. */
typedef void field_taker(struct walk *w, const cJSON *value, cJSON *to);

struct field_value {
	const char *theirs, *ours; /* theirs NULL: the end */
};

/* What becomes of a field: at most one of what follows the name. None: it is taken as it is. */
struct field {
	const char *name;		  /* NULL: the end; "*": every other one */
	bool server;			  /* servers write the field: left out without a word */
	const char *meaning;		  /* no counterpart: what follows from that */
	const struct field *within;	  /* the fields in it, or in each of its items */
	const struct field_value *values; /* words that were renamed; others stay */
	field_taker *take;
};

void walk_init(
	struct walk *w, struct import_item *item, struct object_source *from, const char *origin);
void walk_done(struct walk *w);

/* Walks all fields of `in`, into the object `to` (NULL: takers alone). */
void walk_fields(struct walk *w, const struct field *fields, const cJSON *in, cJSON *to);

/* Steps into a field or an item; walk_back() goes back to what they returned. */
size_t walk_step(struct walk *w, const char *key);
size_t walk_step_item(struct walk *w, size_t index);
void walk_back(struct walk *w, size_t len);

/* Note, or refuse, the field where the walk is. */
void walk_note(struct walk *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void walk_refuse(struct walk *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Notes that the field names an object of ours: import_settle() looks whether that is refused. ""
 * and NULL name none. */
void walk_reference(struct walk *w, const char *kind, const char *ns, const char *name);
/* Writes where the walk is into text, of WHERE_SIZE bytes. Returns text. */
const char *walk_where(struct walk *w, char *text);

/* Adds a copy under that name. Refuses what a double cannot hold exactly, and a name that is there
 * already. */
void walk_copy(struct walk *w, cJSON *to, const char *name, const cJSON *value);
/* Adds an object that was made, as walk_copy() does, and gives it to `to`. */
void walk_add(struct walk *w, cJSON *to, const char *name, cJSON *made);

/* True for null, "", {} and []; and for false and 0, which say nothing where a feature is meant. */
bool says_nothing(const cJSON *value);

#endif
