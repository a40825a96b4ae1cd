/*
 * The certificate that a port shows: of two files, which are read again when asked for, or made here
 * for as long as the process lives.
 *
 * Files that cannot be read any more change nothing: the last good certificate is shown, and the
 * trouble is logged once. A port serves what it was opened with, so it is opened anew when
 * certificate_look() says so.
 */
#ifndef SLUICE_CONTROLLER_NET_CERTIFICATE_H
#define SLUICE_CONTROLLER_NET_CERTIFICATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "controller/common/log.h"
#include "controller/net/tls.h"

struct certificate;

/* Texts are borrowed as long as there is the certificate, but for names. */
struct certificate_options {
	struct log *log;
	struct tls_files files;	  /* cert NULL: it is made here, */
	const char *const *names; /* for these names and addresses */
	size_t nnames;
	const char *flag;   /* that asked for the port: "--visibility-listen" */
	const char *effect; /* what holds while files cannot be read, for the log */
};

/* Reads or makes it. ERR_INVALID: the sentence names the flag. */
int certificate_new(const struct certificate_options *o, struct certificate **ret, struct err *e);
void certificate_free(struct certificate *c); /* NULL is fine */

/* Reads the files again. True: the certificate is another one now. */
bool certificate_look(struct certificate *c);

/* Gives it, until the next look. */
const struct tls *certificate_tls(const struct certificate *c);
/* Gives its PEM text, where it was made here; NULL: it is of files. */
const char *certificate_made_here(const struct certificate *c);

#endif
