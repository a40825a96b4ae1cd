/*
 * One question to the controller over HTTP, blocking.
 */
#ifndef SLUICE_CLI_SERVER_H
#define SLUICE_CLI_SERVER_H

#include "base/buf.h"
#include "base/err.h"
#include "cli/arguments.h"

enum { SERVER_ANSWER_MAX = 64 * 1024 * 1024 };

/* GET path, appended to ret_body. 0; ERR_GONE: 404, with the server's own sentence; ERR_BUSY: it
 * cannot be reached, and what to do; ERR_DENIED: it does not let us in; ERR_INVALID: it answers
 * something else than a controller would. */
int server_get(const struct arguments *a, const char *path, struct buf *ret_body, struct err *e);

/* The namespace that -n gives, else that of the kubeconfig's context, else "default". Yours. */
char *server_namespace(const struct arguments *a);

#endif
