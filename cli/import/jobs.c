#include "cli/import/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "cli/import/metadata.h"
#include "cli/import/references.h"
#include "cli/job_object.h"
#include "controller/wire/decode.h"
#include "sluice/keys.h"

#define COMMAND_MAX_BYTES ((size_t)1 << 20)

/* ---- tables ---------------------------------------------------------------------------------- */

static void take_manager(struct walk *w, const cJSON *value, cJSON *to)
{
	static const char ours[] = "kubernetes.io/job-controller";
	(void)to;
	if (!cJSON_IsString(value) || strcmp(value->valuestring, ours) != 0)
		walk_note(w, "is left out: the Job runs on this cluster, by the Job controller");
}

static const struct field template_fields[] = {
	{"metadata", .take = take_pod_metadata},
	{"*"},
	{NULL},
};

static const struct field job_spec_fields[] = {
	{"template", .within = template_fields},
	{"managedBy", .take = take_manager},
	{"*"},
	{NULL},
};

static const struct field job_fields[] = {
	{"apiVersion"},
	{"kind"},
	{"metadata", .take = take_job_metadata},
	{"status", .server = true},
	{"spec", .within = job_spec_fields},
	{NULL},
};

static const struct field job_template_fields[] = {
	{"metadata", .take = take_job_metadata},
	{"spec", .within = job_spec_fields},
	{NULL},
};

static const struct field cronjob_spec_fields[] = {
	{"jobTemplate", .within = job_template_fields},
	{"*"},
	{NULL},
};

static const struct field cronjob_fields[] = {
	{"apiVersion"},
	{"kind"},
	{"metadata", .take = take_job_metadata},
	{"status", .server = true},
	{"spec", .within = cronjob_spec_fields},
	{NULL},
};

/* ---- what is on the cluster: a patch --------------------------------------------------------- */

static const char *text_in(const cJSON *map, const char *key)
{
	const cJSON *v = json_get(map, key);
	return cJSON_IsString(v) ? v->valuestring : NULL;
}

/* Makes the merge patch from one map of texts to another; NULL: they are the same. Of Kueue's keys
 * only the queue's name goes: by it Kueue manages the Job, and its webhook forbids to remove
 * others. */
static cJSON *map_patch(const cJSON *old, const cJSON *new)
{
	cJSON *patch = cJSON_CreateObject();
	json_each(key, old)
		if (strcmp(key->string, KUEUE_DOMAIN "/queue-name") == 0)
			must(cJSON_AddNullToObject(patch, key->string));
	json_each(key, new) {
		const char *before = text_in(old, key->string), *after = text_in(new, key->string);
		if (after && (!before || strcmp(before, after) != 0))
			must(cJSON_AddStringToObject(patch, key->string, after));
	}
	if (patch->child)
		return patch;
	cJSON_Delete(patch);
	return NULL;
}

/* Goes down the given path of objects; patch gets a part only where something changes. */
static void patch_metadata(
	cJSON *patch, const cJSON *old, const cJSON *new, const char *const *path)
{
	static const char *const maps[] = {"labels", "annotations"};
	if (*path) {
		cJSON *inner = cJSON_GetObjectItemCaseSensitive(patch, *path);
		bool there = inner != NULL;
		if (!there)
			inner = cJSON_CreateObject();
		patch_metadata(inner, json_object(old, *path), json_object(new, *path), path + 1);
		if (!there && inner->child)
			must(cJSON_AddItemToObject(patch, *path, inner));
		else if (!there)
			cJSON_Delete(inner);
		return;
	}
	for (size_t i = 0; i < 2; i++) {
		cJSON *map = map_patch(json_object(old, maps[i]), json_object(new, maps[i]));
		if (map)
			must(cJSON_AddItemToObject(patch, maps[i], map));
	}
}

/* Guards the patch: it must fail if Kueue starts the Job before the command is given. */
static void guard(cJSON *patch, const cJSON *in)
{
	const char *version = text_in(json_object(in, "metadata"), "resourceVersion");
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(patch, "metadata");
	if (metadata && version)
		must(cJSON_AddStringToObject(metadata, "resourceVersion", version));
}

static void put_shell(struct buf *out, const char *text)
{
	buf_putc(out, '\'');
	for (const char *p = text; *p; p++) {
		if (*p == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *p);
	}
	buf_putc(out, '\'');
}

static void give_command(struct walk *w, const cJSON *in, const cJSON *made, bool is_cronjob)
{
	static const char *const own[] = {"metadata", NULL};
	static const char *const of_jobs[] = {"spec", "jobTemplate", "metadata", NULL};
	cJSON *patch = cJSON_CreateObject();
	struct buf command, json;
	patch_metadata(patch, in, made, own);
	if (is_cronjob)
		patch_metadata(patch, in, made, of_jobs);
	else
		guard(patch, in);
	buf_init(&command, COMMAND_MAX_BYTES);
	buf_init(&json, COMMAND_MAX_BYTES);
	json_print(&json, patch);
	buf_printf(&command, "kubectl patch %s ", is_cronjob ? "cronjob" : "job");
	put_shell(&command, decode_name(in));
	buf_puts(&command, " -n ");
	put_shell(&command, decode_namespace_of(in));
	buf_puts(&command, " --type=merge -p ");
	put_shell(&command, buf_text(&json));
	if (patch->child)
		w->item->command = mem_strdup(buf_text(&command));
	else
		w->item->untouched = true;
	buf_done(&json);
	buf_done(&command);
	cJSON_Delete(patch);
}

static void give_change(struct walk *w, const cJSON *in, const cJSON *made, bool is_cronjob)
{
	bool suspended = false;
	json_bool(json_object(in, "spec"), "suspend", &suspended);
	if (!is_cronjob && job_object_is_over(in)) {
		w->item->untouched = true;
		return;
	}
	give_command(w, in, made, is_cronjob);
	if (is_cronjob || suspended || !w->item->command)
		return;
	free(w->item->command);
	w->item->command = NULL;
	size_t back = walk_step(w, "spec.suspend");
	walk_refuse(w,
		"is false: the Job runs; let it end under Kueue, or have it adopted without a stop: sluice adopt (docs/migrate.md)");
	walk_back(w, back);
}

/* ---- one Job --------------------------------------------------------------------------------- */

/* Returns what stands behind "Job a/b: " in the decoder's sentence. */
static const char *fault_of(const char *sentence)
{
	const char *colon = strstr(sentence, ": ");
	return colon ? colon + 2 : sentence;
}

static void lend_text(cJSON *metadata, const char *key, const char *text)
{
	if (!json_get(metadata, key))
		must(cJSON_AddStringToObject(metadata, key, text));
}

/* Checks what Sluice would say of a Job, or of a jobTemplate. A manifest has no uid yet, and a
 * template no name: both are lent for the question. */
static void check_job(struct walk *w, const cJSON *made)
{
	struct job *j = NULL;
	struct err e = {""};
	if (!text_in(json_object(json_object(made, "metadata"), "labels"), QUEUE_LABEL))
		return;
	cJSON *copy = cJSON_Duplicate(made, true);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(copy, "metadata");
	lend_text(metadata, "uid", "00000000-0000-0000-0000-000000000001");
	lend_text(metadata, "namespace", "default");
	lend_text(metadata, "name", "job");
	if (decode_job(copy, NULL, &j, &e) < 0)
		walk_refuse(w, "cannot be taken: %s", fault_of(e.text));
	else if (j->invalid)
		walk_note(
			w, "would be refused, or wait as Misconfigured: %s", fault_of(j->invalid));
	free(j);
	cJSON_Delete(copy);
}

void import_job(struct walk *w, const cJSON *in, bool is_cronjob)
{
	bool live = json_get(json_object(in, "metadata"), "uid") != NULL;
	cJSON *made = cJSON_CreateObject();
	w->live = live;
	walk_fields(w, is_cronjob ? cronjob_fields : job_fields, in, made);
	if (!decode_name(in)[0] && !json_text(json_object(in, "metadata"), "generateName"))
		walk_refuse(w, "has no metadata.name");
	if (!w->item->refused)
		check_job(w,
			is_cronjob ? json_object(json_object(made, "spec"), "jobTemplate") : made);
	note_kueue_left(w, made);
	references_of_job(w, made, is_cronjob);
	if (!w->item->refused && live)
		give_change(w, in, made, is_cronjob);
	if (live)
		cJSON_Delete(made);
	else
		w->item->object = made;
}
