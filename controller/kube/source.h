/*
 * Private to kube/, but for base64: reading a struct kube_source, and forgetting secrets.
 */
#ifndef SLUICE_CONTROLLER_KUBE_SOURCE_H
#define SLUICE_CONTROLLER_KUBE_SOURCE_H

#include "controller/kube/config.h"

enum { SOURCE_CEILING = 4 * 1024 * 1024 }; /* bytes of any file that is read here */

/* Reads a whole file, at most SOURCE_CEILING bytes. The sentence names path and says why not. */
int source_read_file(const char *path, char **ret_text, size_t *ret_len, struct err *err);

/* Reads the text of a source, NULL when none is given. A file must hold no NUL byte. */
int source_read(const struct kube_source *source, char **ret_text, struct err *err);

/* Whether text may stand in an Authorization header: printable ASCII, no blanks, not empty. */
bool source_is_token(const char *text);

/* Cuts blanks and newlines at both ends, in place: token files end with a newline. */
void source_trim(char *text);

/* Decodes standard base64 to text, passing over newlines. NULL when it is no base64, or no text (a
 * NUL in it), or nothing. */
char *source_base64(const char *coded);

char *source_to_base64(const char *text);

/* Overwrites a secret, then frees it. NULL is fine. */
void source_forget(char *secret);

#endif
