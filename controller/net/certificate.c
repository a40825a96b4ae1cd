#include "controller/net/certificate.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct certificate {
	struct certificate_options options;
	struct tls *tls;
	char said[LOG_TROUBLE_MAX]; /* of files */
};

int certificate_new(const struct certificate_options *o, struct certificate **ret, struct err *e)
{
	struct tls *tls = NULL;
	int rc = o->files.cert ? tls_load(&o->files, &tls, e)
			       : tls_make(o->names, o->nnames, &tls, e);
	if (rc) {
		if (!o->files.cert)
			err_wrap(e, "%s", o->flag);
		return rc;
	}
	struct certificate *c = mem_alloc(sizeof(*c));
	c->options = *o;
	c->options.names = NULL; /* borrowed for this call only */
	c->tls = tls;
	tls_log(tls, o->files.cert, o->log);
	*ret = c;
	return 0;
}

void certificate_free(struct certificate *c)
{
	if (!c)
		return;
	tls_free(c->tls);
	free(c);
}

static bool is_same(const struct tls *a, const struct tls *b)
{
	return strcmp(a->certificate, b->certificate) == 0 && strcmp(a->key, b->key) == 0;
}

bool certificate_look(struct certificate *c)
{
	const struct certificate_options *o = &c->options;
	struct tls *now = NULL;
	struct err e = {""};
	if (!o->files.cert)
		return false;
	if (tls_load(&o->files, &now, &e) != 0) {
		log_trouble(o->log, c->said, "certificate-unusable", e.text, o->effect);
		return false;
	}
	c->said[0] = '\0';
	if (is_same(now, c->tls)) {
		tls_free(now);
		return false;
	}
	tls_free(c->tls);
	c->tls = now;
	tls_log(now, o->files.cert, o->log);
	return true;
}

const struct tls *certificate_tls(const struct certificate *c)
{
	return c->tls;
}

const char *certificate_made_here(const struct certificate *c)
{
	return c->options.files.cert ? NULL : c->tls->certificate;
}
