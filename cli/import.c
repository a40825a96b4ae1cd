/* The command import: what is described for Kueue, or Crane, described for Sluice. Prints, and changes
 * nothing. */
#include <ev.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/import/cluster.h"
#include "cli/import/import.h"
#include "cli/import/options.h"

#define OUTPUT_MAX_BYTES ((size_t)512 << 20)

static int read_files(const struct import_options *o, struct import *i, struct err *e)
{
	int rc = 0;
	for (size_t n = 0; n < o->files.count && rc == 0; n++)
		rc = import_file(i, o->files.text[n], e);
	return rc < 0 ? ERR_INVALID : 0;
}

static int read_cluster(const struct import_options *o, struct import *i, struct err *e)
{
	struct kube_config *config;
	if (kube_config_load(&o->kube, &config, e) < 0)
		return ERR_INVALID;
	struct import_cluster c = {ev_loop_new(EVFLAG_AUTO), config, o->namespace_name,
		o->kueue_namespace, o->crane_namespace};
	int rc = import_cluster_read(&c, i, e);
	ev_loop_destroy(c.loop);
	kube_config_free(config);
	return rc;
}

/* Prints the report. The exit code, too, tells that something was refused or left out. */
static int report(const struct import_options *o, const struct import *i)
{
	struct buf out, notes;
	struct err e = {""};
	buf_init(&out, OUTPUT_MAX_BYTES);
	buf_init(&notes, OUTPUT_MAX_BYTES);
	if (o->json)
		import_render_json(i, &out);
	else
		import_render_yaml(i, &out);
	import_render_notes(i, &notes);
	int rc = out.failed || notes.failed
			 ? err_set(&e, ERR_LIMIT, "what came of it is larger than 512 MiB")
			 : 0;
	if (rc == 0)
		fputs(buf_text(&notes), stderr);
	int code = command_end(rc, &out, &e);
	buf_done(&notes);
	buf_done(&out);
	if (code != CLI_OK)
		return code;
	size_t missing = import_count(i, IMPORT_REFUSED) + import_count(i, IMPORT_WITH_NOTES);
	return missing > 0 ? CLI_FINDINGS : CLI_OK;
}

int command_import(void *options)
{
	const struct import_options *o = options;
	struct import i;
	struct buf none;
	struct err e = {""};
	import_init(&i);
	i.source = o->crane ? IMPORT_CRANE : IMPORT_KUEUE;
	buf_init(&none, 0);
	int rc = o->from_cluster ? read_cluster(o, &i, &e) : read_files(o, &i, &e);
	if (rc == 0)
		import_settle(&i);
	int code = rc < 0 ? command_end(rc, &none, &e) : report(o, &i);
	buf_done(&none);
	import_done(&i);
	return code;
}
