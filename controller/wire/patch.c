#include "controller/wire/patch.h"

#include <inttypes.h>
#include <string.h>

#include "base/instant.h"
#include "base/must.h"
#include "controller/wire/resources.h"

/* Keys of ours as they stand in a JSON pointer: ~1 is a slash. */
#define ANNOTATIONS "/metadata/annotations"
#define STORY_POINTER ANNOTATIONS "/sluice.dev~1admission"
#define DIRECTIVES_POINTER ANNOTATIONS "/sluice.dev~1original-directives"
#define OUTCOMES_POINTER ANNOTATIONS "/sluice.dev~1after-outcomes"
#define WAITING_POINTER ANNOTATIONS "/sluice.dev~1waiting"
#define STOPPING_POINTER ANNOTATIONS "/sluice.dev~1stopping-at"
#define BOOKED_START_POINTER ANNOTATIONS "/sluice.dev~1booked-start"
#define HOLD_POINTER ANNOTATIONS "/sluice.dev~1hold"
#define QUEUE_POINTER "/metadata/labels/sluice.dev~1queue-name"
#define TEMPLATE "/spec/template"
#define CLUSTERQUEUE_POINTER TEMPLATE "/metadata/labels/sluice.dev~1cluster-queue-name"

/* Measures U+2028 or U+2029 at the front of s; 0: there is neither. */
static size_t line_separator(const char *s)
{
	return strncmp(s, "\xE2\x80\xA8", 3) == 0 || strncmp(s, "\xE2\x80\xA9", 3) == 0 ? 3 : 0;
}

/*
 * Writes a string exactly as Go's encoding/json does. The API server compares the value of a `test`
 * with its own encoding of the field byte by byte (evanphx/json-patch v4, lazyNode.equal), so "a<b"
 * never equals its "a\u003cb". s is valid UTF-8, as all that the API server sends.
 */
static void put_go_string(struct buf *out, const char *s)
{
	static const char escaped[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
	buf_putc(out, '"');
	for (; *s; s++) {
		const char *e = strchr(escaped, *s);
		if (e) {
			buf_putc(out, '\\');
			buf_putc(out, letter[e - escaped]);
		} else if ((unsigned char)*s < 0x20 || strchr("<>&", *s)) {
			buf_printf(out, "\\u%04x", (unsigned)*s);
		} else if (line_separator(s)) {
			buf_puts(out, s[2] == '\xA8' ? "\\u2028" : "\\u2029");
			s += 2;
		} else {
			buf_putc(out, *s);
		}
	}
	buf_putc(out, '"');
}

/* Begins an operation up to its value; the first one of a patch follows its '['. */
static void begin(struct buf *out, const char *op, const char *pointer)
{
	bool first = out->len > 0 && buf_text(out)[out->len - 1] == '[';
	buf_puts(out, first ? "" : ",");
	buf_printf(out, "{\"op\":\"%s\",\"path\":\"%s\",\"value\":", op, pointer);
}

static void test_string(struct buf *out, const char *pointer, const char *value)
{
	begin(out, "test", pointer);
	put_go_string(out, value);
	buf_putc(out, '}');
}

static void put_raw(struct buf *out, const char *op, const char *pointer, const char *json)
{
	begin(out, op, pointer);
	buf_puts(out, json);
	buf_putc(out, '}');
}

/* Fails the whole for a part that went over its ceiling. */
static void check_part(const struct buf *part, struct buf *out)
{
	if (part->failed)
		out->failed = true;
}

static void add_text(struct buf *out, const char *pointer, const struct buf *text)
{
	begin(out, "add", pointer);
	buf_json_slice(out, buf_slice(text));
	buf_putc(out, '}');
	check_part(text, out);
}

/* Writes what every PATCH of ours tests. A `test` for null holds when the key is absent, as long as
 * the map around it is there. So a Job without annotations is tested for that, and given the
 * map. */
static void put_auth(const struct intent *i, bool suspended, struct buf *out)
{
	char uid[UID_TEXT_SIZE];
	uid_format(&i->uid, uid);
	test_string(out, "/metadata/uid", uid);
	put_raw(out, "test", "/spec/suspend", suspended ? "true" : "false");
	if (i->story_before)
		test_string(out, STORY_POINTER, i->story_before);
	else
		put_raw(out, "test", i->has_annotations ? STORY_POINTER : ANNOTATIONS, "null");
}

static void put_annotations_map(const struct intent *i, struct buf *out)
{
	if (!i->has_annotations && !i->story_before)
		put_raw(out, "add", ANNOTATIONS, "{}");
}

static void put_story(const struct intent *i, struct buf *out)
{
	struct buf story;
	buf_init(&story, PATCH_MAX_BYTES);
	story_fit(&i->story, i->story_max, &story);
	add_text(out, STORY_POINTER, &story);
	buf_done(&story);
}

/* ---- the pod template ------------------------------------------------------------------------ */

/* Writes a key as a step of a JSON pointer. */
static void put_step(struct buf *out, const char *key)
{
	for (; *key; key++)
		buf_puts(out, *key == '~' ? "~0" : *key == '/' ? "~1" : (char[]){*key, '\0'});
}

static void begin_member(struct buf *out, const char *op, const char *map, const char *key)
{
	buf_printf(out, ",{\"op\":\"%s\",\"path\":\"%s/", op, map);
	put_step(out, key);
	buf_putc(out, '"');
}

/* Writes the edits of keys, in which JSON escapes nothing: they were checked when they were
 * decoded. */
static void put_keys(const char *map, const struct key_edit *e, struct buf *out)
{
	for (size_t i = 0; i < e->ndrop; i++) {
		begin_member(out, "remove", map, e->drop[i]);
		buf_putc(out, '}');
	}
	for (size_t i = 0; i < e->nadd; i++) {
		begin_member(out, "add", map, e->add[i].key);
		buf_puts(out, ",\"value\":");
		buf_json_string(out, e->add[i].value);
		buf_putc(out, '}');
	}
}

/* Writes labels and annotations. The template has labels, for each Job has those of the API
 * server. */
static void put_metadata(const struct template_edit *e, struct buf *out)
{
	put_keys(TEMPLATE "/metadata/labels", &e->labels, out);
	if (e->annotations.nadd > 0 && !e->has_annotations)
		put_raw(out, "add", TEMPLATE "/metadata/annotations", "{}");
	put_keys(TEMPLATE "/metadata/annotations", &e->annotations, out);
}

static void put_affinity(const struct start_template *t, struct buf *out)
{
	static const char all[] = TEMPLATE "/spec/affinity";
	static const char node[] = TEMPLATE "/spec/affinity/nodeAffinity";
	switch (t->edit.affinity) {
	case AFFINITY_KEEP:
		break;
	case AFFINITY_MAKE:
		begin(out, "add", all);
		buf_printf(out, "{\"nodeAffinity\":%s}}", t->run.node_affinity);
		break;
	case AFFINITY_SET:
		put_raw(out, "add", node, t->run.node_affinity);
		break;
	case AFFINITY_CLEAR:
		buf_printf(out, ",{\"op\":\"remove\",\"path\":\"%s\"}", node);
		break;
	case AFFINITY_REMOVE:
		buf_printf(out, ",{\"op\":\"remove\",\"path\":\"%s\"}", all);
		break;
	}
}

static void put_kept_labels(const char *name, const struct key_edit *e, struct buf *out)
{
	for (size_t i = 0; i < e->nadd; i++) {
		if (i)
			buf_putc(out, ',');
		else
			buf_printf(out, ",\"%s\":{", name);
		buf_json_string(out, e->add[i].key);
		buf_putc(out, ':');
		buf_json_string(out, e->add[i].value);
	}
	buf_puts(out, e->nadd > 0 ? "}" : "");
}

/* Writes a run's directives, or the owner's own, as the annotation keeps them. */
static void put_kept(struct buf *out, const char *key, const struct template_directives *d,
	const char *resources, bool affinity)
{
	buf_printf(out, "\"%s\":{\"nodeSelector\":%s,\"tolerations\":%s", key, d->node_selector,
		d->tolerations);
	if (*resources)
		buf_printf(out, ",\"resources\":%s", resources);
	if (affinity && *d->node_affinity)
		buf_printf(out, ",\"nodeAffinity\":%s", d->node_affinity);
}

/* Writes what the containers ask for, in the names of the room that the Job got. A text of ours
 * that cannot be read, or is not whole cores where it must be, was refused when the Job was
 * decoded. */
static void convert_resources(const struct start_template *t, struct buf *run)
{
	struct lent_form form = {t->lending, t->kubelet_limits};
	if (t->resources && resources_convert(slice_of(t->resources), form, run, NULL) < 0)
		run->failed = true;
}

static void put_template(const struct start_template *t, struct buf *out)
{
	struct buf resources, both;
	buf_init(&resources, PATCH_MAX_BYTES);
	buf_init(&both, PATCH_MAX_BYTES);
	convert_resources(t, &resources);
	put_raw(out, "add", TEMPLATE "/spec/nodeSelector", t->run.node_selector);
	put_raw(out, "add", TEMPLATE "/spec/tolerations", t->run.tolerations);
	put_affinity(t, out);
	put_metadata(&t->edit, out);
	if (resources.len > 0)
		resources_patch(buf_slice(&resources), out);
	buf_putc(&both, '{');
	put_kept(&both, "original", &t->own, t->resources ? t->resources : "",
		t->edit.adds_affinity);
	buf_puts(&both, "},");
	put_kept(&both, "applied", &t->run, buf_text(&resources), t->edit.adds_affinity);
	put_kept_labels("labels", &t->edit.labels, &both);
	put_kept_labels("annotations", &t->edit.annotations, &both);
	buf_puts(&both, "}}");
	add_text(out, DIRECTIVES_POINTER, &both);
	check_part(&resources, out);
	out->failed = out->failed || t->fault;
	buf_done(&resources);
	buf_done(&both);
}

/* Writes the ClusterQueue as a label. A name of more than 63 characters cannot be one, and "" says
 * so: the value of an earlier start, which may be there, must not stay. */
static void put_pod_label(const struct intent *i, struct buf *out)
{
	const char *name = i->story.clusterqueue ? i->story.clusterqueue : "";
	begin(out, "add", CLUSTERQUEUE_POINTER);
	buf_json_string(out, strlen(name) <= 63 ? name : "");
	buf_putc(out, '}');
}

static void put_number(struct buf *out, const char *op, const char *pointer, int64_t value)
{
	begin(out, op, pointer);
	buf_printf(out, "%lld}", (long long)value);
}

static void put_counts(const struct intent *i, struct buf *out)
{
	if (i->parallelism > 0)
		put_number(out, "add", "/spec/parallelism", i->parallelism);
	if (i->completions > 0)
		put_number(out, "add", "/spec/completions", i->completions);
}

/* Writes back the owner's numbers of pods after a run with fewer, unless the owner is writing
 * others just now. */
static void put_counts_back(const struct intent *i, struct buf *out)
{
	if (i->parallelism > 0)
		put_number(out, "test", "/metadata/generation", i->generation);
	put_counts(i, out);
}

static void put_hold(const struct intent *i, struct buf *out)
{
	if (!i->hold)
		return;
	begin(out, "add", HOLD_POINTER);
	buf_json_string(out, i->hold);
	buf_putc(out, '}');
}

/* Takes off the notice, for the wait is over. The patch fails if the notice is not as known when it
 * was made; where there is no map of annotations the guard tests that already. */
static void put_notice_off(const struct intent *i, struct buf *out)
{
	if (i->has_notice)
		buf_puts(out, ",{\"op\":\"remove\",\"path\":\"" WAITING_POINTER "\"}");
	else if (i->has_annotations || i->story_before)
		put_raw(out, "test", WAITING_POINTER, "null");
}

/* Takes off a value that may not be there: a `remove` of nothing fails, so it is added first.
 * Behind put_annotations_map(). */
static void put_off(const char *pointer, struct buf *out)
{
	put_raw(out, "add", pointer, "\"\"");
	buf_printf(out, ",{\"op\":\"remove\",\"path\":\"%s\"}", pointer);
}

static void put_start(const struct intent *i, struct buf *out)
{
	put_auth(i, true, out);
	put_number(out, "test", "/metadata/generation", i->generation);
	if (i->queue)
		test_string(out, QUEUE_POINTER, i->queue);
	put_notice_off(i, out);
	put_annotations_map(i, out);
	if (i->has_booked_start)
		put_off(BOOKED_START_POINTER, out);
	if (i->drop_warning)
		put_off(STOPPING_POINTER, out);
	put_raw(out, "replace", "/spec/suspend", "false");
	put_counts(i, out);
	put_template(&i->template, out);
	put_pod_label(i, out);
	put_story(i, out);
}

static void put_stop(const struct intent *i, struct buf *out)
{
	put_auth(i, false, out);
	put_annotations_map(i, out);
	if (i->drop_warning)
		put_off(STOPPING_POINTER, out);
	put_raw(out, "replace", "/spec/suspend", "true");
	put_counts_back(i, out);
	put_hold(i, out);
	if (!i->untold)
		put_story(i, out);
}

static void put_tell(const struct intent *i, struct buf *out)
{
	put_auth(i, true, out);
	put_annotations_map(i, out);
	if (i->drop_notice)
		put_off(WAITING_POINTER, out);
	if (i->drop_warning)
		put_off(STOPPING_POINTER, out);
	if (i->resume)
		put_raw(out, "replace", "/spec/suspend", "false");
	put_counts_back(i, out);
	put_hold(i, out);
	put_story(i, out);
}

static void put_time(const char *pointer, int64_t ms, struct buf *out)
{
	begin(out, "add", pointer);
	buf_printf(out, "\"%s\"}", instant_seconds(ms).s);
}

/* Writes the notice. The story stays: it is what was last done to this Job. */
static void put_notice(const struct intent *i, struct buf *out)
{
	put_auth(i, true, out);
	put_annotations_map(i, out);
	begin(out, "add", WAITING_POINTER);
	buf_json_string(out, i->notice);
	buf_putc(out, '}');
	if (i->booked_start_ms > 0)
		put_time(BOOKED_START_POINTER, i->booked_start_ms, out);
	else if (i->has_booked_start)
		put_off(BOOKED_START_POINTER, out);
}

/* Writes what became of the Jobs that this one waits for. The story stays. */
static void put_outcomes(const struct intent *i, struct buf *out)
{
	put_auth(i, true, out);
	put_annotations_map(i, out);
	begin(out, "add", OUTCOMES_POINTER);
	buf_json_string(out, i->outcomes);
	buf_putc(out, '}');
}

/* Changes the number of pods of a Job that runs, and its story. */
static void put_size(const struct intent *i, struct buf *out)
{
	put_auth(i, false, out);
	put_number(out, "test", "/metadata/generation", i->generation);
	put_annotations_map(i, out);
	put_counts(i, out);
	put_story(i, out);
}

/* Writes a new story to a Job that runs: whatever is under way to it tests the old one, and
 * fails. */
static void put_retell(const struct intent *i, struct buf *out)
{
	put_auth(i, false, out);
	put_annotations_map(i, out);
	if (i->drop_notice)
		put_off(WAITING_POINTER, out);
	put_story(i, out);
}

/* Writes or takes off the warning of a Job that runs. The story stays. */
static void put_warn(const struct intent *i, struct buf *out)
{
	put_auth(i, false, out);
	put_annotations_map(i, out);
	if (i->stopping_at_ms == 0) {
		put_off(STOPPING_POINTER, out);
		return;
	}
	put_time(STOPPING_POINTER, i->stopping_at_ms, out);
}

/* Clears status.startTime, if the Job is still at this version. */
static void put_clear(const struct intent *i, struct buf *out)
{
	char uid[UID_TEXT_SIZE];
	uid_format(&i->uid, uid);
	test_string(out, "/metadata/uid", uid);
	begin(out, "test", "/metadata/resourceVersion");
	buf_printf(out, "\"%" PRId64 "\"}", i->version);
	put_off("/status/startTime", out);
}

/* Writes the body of each kind of intents that is a PATCH. */
static void (*const PUT[INTENTS])(const struct intent *i, struct buf *out) = {
	[INTENT_START] = put_start,
	[INTENT_PROVISION] = put_start, /* as a dry run: what its pods would be */
	[INTENT_STOP] = put_stop,
	[INTENT_SHRINK] = put_size,
	[INTENT_GROW] = put_size,
	[INTENT_RETELL] = put_retell,
	[INTENT_TELL] = put_tell,
	[INTENT_NOTICE] = put_notice,
	[INTENT_OUTCOMES] = put_outcomes,
	[INTENT_WARN] = put_warn,
	[INTENT_CLEAR] = put_clear,
};

void patch_render(const struct intent *i, struct buf *out)
{
	must(PUT[i->kind]);
	buf_putc(out, '[');
	PUT[i->kind](i, out);
	buf_putc(out, ']');
}
