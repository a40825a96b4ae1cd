/*
 * A file of YAML documents (or JSON, which is YAML) as JSON trees, one after the other, with the
 * line of each field, for sentences.
 *
 * A document becomes JSON text and then a tree of base/json.h, so all that is promised there holds
 * here too. It is UTF-8, has no NUL, and is not nested too deep. It takes no more memory than it
 * may: aliases are copied out, so a small text can ask for a large tree.
 *
 * Plain scalars mean what they mean to kubectl: true, yes, on; null, ~; numbers; else text.
 */
#ifndef SLUICE_CLI_SIMULATE_DOCUMENTS_H
#define SLUICE_CLI_SIMULATE_DOCUMENTS_H

#include <stddef.h>

#include "base/err.h"
#include "base/slice.h"
#include "base/json.h"

struct documents;

/* Opens a text, which must live as long as the documents. */
struct documents *documents_new(struct slice text);
void documents_free(struct documents *d); /* NULL is fine */

/* Reads the next document, which is there until the next call. 1: there is one; 0: no more;
 * negative: the sentence, and documents_line() says where. Empty documents are passed over. */
int documents_next(struct documents *d, const cJSON **ret_root, struct err *e);

/* Returns the line where the document begins, or of what could not be read. Lines begin at 1. */
size_t documents_line(const struct documents *d);

/* Returns the line of "items[3].spec.stopPolicy", or of as much of it as there is. */
size_t documents_line_of(struct documents *d, const char *path);

/* ---- the objects of a file ---------------------------------------------------------------------
 *
 * Objects come one after the other, each with its place, for sentences that begin with file and
 * line. What an object means is its reader's. */

#define WHERE_SIZE 4200

struct object_source {
	const char *file;	     /* for sentences */
	struct documents *documents; /* NULL: of no file, and sentences have no line */
	char within[32];	     /* the beginning of the object's paths: "", or "items[3]." */
	void *ctx;
};

/* Reads an object. Below 0: the sentence is complete, with file and line, and nothing more is
 * read. */
typedef int object_reader(struct object_source *from, const cJSON *o, struct err *e);

/* Reads the objects of a file; "-" is the standard input. max: bytes of the file. name: what
 * sentences call it. */
int objects_read(const char *file, const char *name, size_t max, object_reader *read, void *ctx,
	struct err *e);
/* Reads a file, "-", or a directory: its *.yaml, *.yml and *.json, by name. deep: those of all
 * directories below it, too, but for hidden ones. */
int objects_read_path(
	const char *path, bool deep, size_t max, object_reader *read, void *ctx, struct err *e);
int objects_read_text(
	const char *name, struct slice text, object_reader *read, void *ctx, struct err *e);

/* Reads each item of a list, for readers. */
int object_items(struct object_source *from, const cJSON *list, object_reader *read, struct err *e);

/* Writes "file.yaml:12", where a field stands; field "": where the object begins. Returns
 * ret_text. */
const char *object_where(
	struct object_source *from, const char *field, char *ret_text, size_t size);
/* Puts object_where() in front of the sentence. */
void object_wrap(struct object_source *from, const char *field, struct err *e);
/* Puts the place of the field that the sentence names in front of it: "Job a/b: spec.parallelism:
 * must be ...". Returns code. */
int object_fault(struct object_source *from, int code, struct err *e);

/* Reads a whole file, at most max bytes of it; *ret is the caller's, and ends with a NUL that is
 * not counted. */
int read_whole(const char *file, size_t max, char **ret, size_t *ret_len, struct err *e);

#endif
