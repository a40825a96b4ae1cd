/*
 * What a Job's labels and annotations say.
 *
 * Two of the annotations are our own. The story is kept as text even when it makes no sense, since
 * it is what the next PATCH is guarded by. The directives are the user's own, before a flavor's
 * were added, and count as patch.h says.
 */
#include <string.h>

#include "base/span.h"
#include "controller/gate/gate.h"
#include "controller/wire/decode_parts.h"
#include "sluice/keys.h"

#define HOLD_MAX_BYTES 1024
#define LABELS_MAX 4096
#define NOTICE_KEPT_BYTES 40
#define LAST_MS INT64_C(253402300799000) /* 9999-12-31T23:59:59Z */
#define NOTE_TREE_MAX (16 << 20) /* ANNOTATIONS_MAX_BYTES take 8 MiB at most: 64 for each "0," */
#define TROUBLE_TEXT_MAX (TROUBLE_MESSAGE_MAX + 200) /* with the words around it */

void job_labels(struct decoder *d, const cJSON *o, struct job *j)
{
	const struct path *at = PATH(PATH(NULL, "metadata"), "labels");
	const cJSON *labels = json_object(meta_of(o), "labels");
	j->labels = labels_field(d, at->up, meta_of(o), "labels", LABELS_MAX, &j->nlabels);
	j->queue = text_field(d, at, labels, QUEUE_LABEL, NAME_MAX_BYTES);
	j->priority_class = text_field(d, at, labels, PRIORITY_LABEL, NAME_MAX_BYTES);
}

static enum story_state state_named(const char *name)
{
	static const enum story_state all[] = {STORY_STARTED, STORY_STOPPED, STORY_FENCED};
	for (size_t i = 0; name && i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(story_state_name(all[i]), name) == 0)
			return all[i];
	return STORY_NONE;
}

static int64_t number_of(const cJSON *o, const char *key, int64_t max)
{
	int64_t value;
	return json_i64(o, key, &value) < 0 || value < 0 || value > max ? 0 : value;
}

static void read_history(const cJSON *history, struct job_history *h)
{
	h->requeues = (int32_t)number_of(history, "requeues", INT32_MAX);
	h->ran_ms = number_of(history, "ranMs", LAST_MS);
	h->not_before_ms = number_of(history, "notBeforeMs", LAST_MS);
	h->evicted_ms = number_of(history, "evictedMs", LAST_MS);
	h->suspensions = (int32_t)number_of(history, "suspensions", INT32_MAX);
	h->reclaims_paid_ms = number_of(history, "reclaimsPaidMs", LAST_MS);
}

/* Reads the owner's numbers of pods, which a run with fewer took down. They count as long as the
 * spec is what was applied; after an edit by its owner, the spec alone counts. */
static void read_owner(const cJSON *root, struct job *j)
{
	int32_t pods = (int32_t)number_of(root, "pods", INT32_MAX);
	int32_t parallelism = (int32_t)number_of(root, "parallelism", INT32_MAX);
	int32_t completions = (int32_t)number_of(root, "completions", INT32_MAX);
	bool as_applied = j->admission.state == STORY_STARTED && pods > 0 && parallelism > pods &&
			  j->parallelism == pods &&
			  (completions == 0 || (j->has_completions && j->completions == pods));
	/* The owner's manifest was applied again during the run: all of the owner's numbers are
	 * back, or only the one that a tool cares for. */
	bool completions_known = completions == 0 || !j->has_completions ||
				 j->completions == pods || j->completions == completions;
	j->admission.run_pods = pods;
	j->admission.reapplied = !j->suspend && j->admission.state == STORY_STARTED && pods > 0 &&
				 parallelism > pods && j->parallelism == parallelism &&
				 completions_known;
	if (!as_applied)
		return;
	j->admission.owner_parallelism = parallelism;
	j->admission.owner_completions = completions;
	if (!j->suspend)
		return;
	j->parallelism = parallelism;
	if (completions > 0)
		j->completions = completions;
}

/* The most attempts that are believed: without the policies a tenant may have written them, and the
 * next attempts count on. */
#define ATTEMPT_MAX (INT32_MAX - 1000000)

static void read_story(struct decoder *d, struct json *notes, struct job *j)
{
	const cJSON *root;
	const char *trouble;
	int64_t attempt;
	if (json_parse(notes, slice_of(j->admission.story), &root, NULL) < 0)
		return;
	enum story_state state = state_named(json_text(root, "state"));
	/* A Job that ran without having been let in was stopped before its first attempt. */
	int64_t first = state == STORY_STOPPED ? 0 : 1;
	if (state == STORY_NONE || json_i64(root, "attempt", &attempt) < 0 || attempt < first ||
		attempt > ATTEMPT_MAX)
		return;
	j->admission.state = state;
	j->admission.attempt = (int32_t)attempt;
	j->admission.sizes = (int32_t)number_of(root, "sizes", ATTEMPT_MAX);
	j->admission.epoch = number_of(root, "epoch", INT64_MAX);
	j->admission.told_ms = json_instant(root, "at");
	read_history(json_object(root, "history"), &j->admission.history);
	read_owner(root, j);
	trouble = json_text(root, "trouble");
	if (trouble && *trouble)
		j->admission.trouble = text_quote(d, trouble, TROUBLE_TEXT_MAX);
}

/* Keeps the story's text. It has no other bound than the API server's own, and no other check: it
 * is written back only into the test that guards a PATCH. */
static void keep_story(struct decoder *d, const struct path *at, const char *text,
	struct json *notes, struct job *j)
{
	size_t len = strlen(text);
	if (len > ANNOTATIONS_MAX_BYTES) {
		decoder_fault(d, PATH(at, STORY_ANNOTATION),
			"has %zu bytes; remove it, only Sluice writes it", len);
		return;
	}
	char *copy = parcel_bytes(&d->parcel, len + 1);
	memcpy(copy, text, len);
	j->admission.story = copy;
	read_story(d, notes, j);
}

static bool read_placement(struct decoder *d, const cJSON *o, struct placement *ret)
{
	/* A fault in here is the annotation's, not the Job's. */
	struct decoder quiet = {.parcel = d->parcel};
	*ret = (struct placement){0};
	ret->node_selector = labels_field(
		&quiet, NULL, o, "nodeSelector", NODE_SELECTOR_MAX, &ret->nnode_selector);
	ret->tolerations = tolerations_field(&quiet, NULL, o, TOLERATIONS_MAX, &ret->ntolerations);
	node_affinity_field(&quiet, NULL, json_object(o, "nodeAffinity"), ret);
	d->parcel = quiet.parcel;
	return o && !quiet.faulty;
}

static const cJSON *template_of(const cJSON *o)
{
	return json_object(json_object(o, "spec"), "template");
}

/* Whether spec.affinity has more than node affinity. */
static bool has_other_affinity(const cJSON *o)
{
	json_each(item, json_object(json_object(template_of(o), "spec"), "affinity"))
		if (!item->string || strcmp(item->string, "nodeAffinity") != 0)
			return true;
	return false;
}

/* Restores the owner's node affinity; a start that adds none leaves no trace here. True: the
 * template has what was applied. */
static bool restore_affinity(const cJSON *o, const struct placement *original,
	const struct placement *applied, struct job *j)
{
	struct placement *p = &j->placement;
	if (applied->nterms + applied->npreferred == 0 || p->affinity_unread)
		return true;
	if (!node_affinity_same(applied, p))
		return false;
	p->terms = original->terms;
	p->nterms = original->nterms;
	p->preferred = original->preferred;
	p->npreferred = original->npreferred;
	p->has_affinity = has_other_affinity(o) || p->nterms + p->npreferred > 0;
	j->metadata.old_affinity = true;
	return true;
}

static bool restore_selectors(
	const struct placement *original, const struct placement *applied, struct placement *p)
{
	if (!directives_same(applied, p))
		return false;
	p->node_selector = original->node_selector;
	p->nnode_selector = original->nnode_selector;
	p->tolerations = original->tolerations;
	p->ntolerations = original->ntolerations;
	return true;
}

/* Restores the owner's directives. text: what the annotation says, or NULL. */
static void restore_directives(
	struct decoder *d, const cJSON *o, const char *text, struct json *notes, struct job *j)
{
	const struct path *at = PATH(PATH(NULL, "spec"), "template");
	const cJSON *root = NULL;
	struct placement original, applied;
	if (!text || strlen(text) > ANNOTATIONS_MAX_BYTES ||
		json_parse(notes, slice_of(text), &root, NULL) < 0 ||
		!read_placement(d, json_object(root, "original"), &original) ||
		!read_placement(d, json_object(root, "applied"), &applied)) {
		j->metadata = template_metadata_field(d, at, template_of(o), NULL);
		return;
	}
	j->metadata = template_metadata_field(d, at, template_of(o), json_object(root, "applied"));
	bool selectors = restore_selectors(&original, &applied, &j->placement);
	bool affinity = restore_affinity(o, &original, &applied, j);
	j->redirected = !j->suspend && !(selectors && affinity);
}

/* Bounds the user's own directives: with a flavor's added the template may well be over it. */
static void check_directives(struct decoder *d, const struct job *j)
{
	const struct path *at = PATH(PATH(PATH(NULL, "spec"), "template"), "spec");
	if (j->placement.nnode_selector > OWN_DIRECTIVES_MAX)
		decoder_fault(d, PATH(at, "nodeSelector"),
			"has %zu items; at most %d are supported", j->placement.nnode_selector,
			OWN_DIRECTIVES_MAX);
	if (j->placement.ntolerations > OWN_DIRECTIVES_MAX)
		decoder_fault(d, PATH(at, "tolerations"), "has %zu items; at most %d are supported",
			j->placement.ntolerations, OWN_DIRECTIVES_MAX);
}

static void read_times(
	struct decoder *d, const struct path *at, const cJSON *annotations, struct job *j)
{
	char shown[SHOWN_SIZE];
	int64_t seconds = 0;
	const char *max_run = text_field(d, at, annotations, MAX_RUN_ANNOTATION, NAME_MAX_BYTES);
	const char *expected = text_field(d, at, annotations, EXPECTED_ANNOTATION, NAME_MAX_BYTES);
	if (json_get(annotations, MAX_RUN_ANNOTATION) &&
		(!text_number(max_run, INT32_MAX, &seconds) || seconds == 0))
		decoder_fault(d, PATH(at, MAX_RUN_ANNOTATION),
			"%s is not a number of seconds; write e.g. 3600",
			text_show(max_run, shown));
	j->durations.max_run_ms = seconds * 1000;
	if (json_get(annotations, EXPECTED_ANNOTATION) &&
		!span_parse_seconds(expected, &j->durations.expected_ms))
		decoder_fault(d, PATH(at, EXPECTED_ANNOTATION),
			"%s is not a duration; write e.g. 1h30m or 5400",
			text_show(expected, shown));
}

static void read_min_parallelism(
	struct decoder *d, const struct path *at, const cJSON *annotations, struct job *j)
{
	char shown[SHOWN_SIZE];
	int64_t least = 0;
	const struct path *here = PATH(at, MIN_PARALLELISM_ANNOTATION);
	const char *text =
		text_field(d, at, annotations, MIN_PARALLELISM_ANNOTATION, NAME_MAX_BYTES);
	int32_t asked = j->admission.owner_parallelism > 0 ? j->admission.owner_parallelism
							   : j->parallelism;
	if (!json_get(annotations, MIN_PARALLELISM_ANNOTATION))
		return;
	if (!text_number(text, INT32_MAX, &least) || least == 0)
		decoder_fault(d, here, "%s is not a number of pods; write e.g. 2",
			text_show(text, shown));
	else if (least >= asked)
		decoder_fault(d, here,
			"%s is not less than spec.parallelism, which is %d; lower it, or remove it to start with all pods only",
			text_show(text, shown), (int)asked);
	else
		j->min_parallelism = (int32_t)least;
}

/* Reads the growth, after min-parallelism: a fault there is told, not that it is missing here. */
static void read_grow(
	struct decoder *d, const struct path *at, const cJSON *annotations, struct job *j)
{
	char shown[SHOWN_SIZE];
	const struct path *here = PATH(at, GROW_ANNOTATION);
	const char *text = text_field(d, at, annotations, GROW_ANNOTATION, NAME_MAX_BYTES);
	if (!json_get(annotations, GROW_ANNOTATION))
		return;
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		decoder_fault(
			d, here, "%s is neither \"true\" nor \"false\"", text_show(text, shown));
	else if (strcmp(text, "false") == 0)
		j->grow = GROW_NO;
	else if (!json_get(annotations, MIN_PARALLELISM_ANNOTATION))
		decoder_fault(d, here,
			"needs annotation sluice.dev/min-parallelism, for only a run that may start with fewer pods can grow; add that, or remove this");
	else
		j->grow = GROW_YES;
}

static void read_completions_follow(
	struct decoder *d, const struct path *at, const cJSON *annotations, struct job *j)
{
	char shown[SHOWN_SIZE];
	const struct path *here = PATH(at, COMPLETIONS_ANNOTATION);
	const char *text = text_field(d, at, annotations, COMPLETIONS_ANNOTATION, NAME_MAX_BYTES);
	if (!json_get(annotations, COMPLETIONS_ANNOTATION) || strcmp(text, "false") == 0)
		return;
	if (strcmp(text, "true") != 0)
		decoder_fault(
			d, here, "%s is neither \"true\" nor \"false\"", text_show(text, shown));
	else if (!j->indexed || !j->has_completions || j->completions != j->parallelism)
		decoder_fault(d, here,
			"needs completionMode Indexed and completions equal to parallelism, for Kubernetes changes the completions of no other Job; remove it");
	else
		j->completions_follow = true;
}

static void read_nice(
	struct decoder *d, const struct path *at, const cJSON *annotations, struct job *j)
{
	char shown[SHOWN_SIZE];
	int64_t nice = 0;
	const char *text = text_field(d, at, annotations, NICE_ANNOTATION, NAME_MAX_BYTES);
	bool negative = *text == '-';
	const char *digits = text + negative;
	if (!json_get(annotations, NICE_ANNOTATION))
		return;
	if (strlen(digits) > 3 || !text_number(digits, NICE_MAX, &nice))
		decoder_fault(d, PATH(at, NICE_ANNOTATION),
			"%s is not a whole number from -%d to %d; write e.g. 10",
			text_show(text, shown), NICE_MAX, NICE_MAX);
	j->nice = (int32_t)(negative ? -nice : nice);
}

/* Reads the submitter, whose name may be as long as the authenticator likes, of any characters. */
static void read_submitter(struct decoder *d, const cJSON *annotations, struct job *j)
{
	const char *name = json_text(annotations, SUBMITTED_ANNOTATION);
	if (name && *name)
		j->submitted_by = text_quote(d, name, SUBMITTER_MAX_BYTES);
}

/* Reads when the Job was queued. The API server writes that, so what is no time says nothing. */
static void read_queued_at(const cJSON *annotations, struct job *j)
{
	int64_t at_ms = json_instant(annotations, QUEUED_ANNOTATION);
	if (at_ms > 0)
		j->queued_at_ms = at_ms;
}

/* Keeps the beginning of a notice: its first word says which kind it is, the rest is for people. */
static const char *beginning(struct decoder *d, const char *text)
{
	size_t len = strnlen(text, NOTICE_KEPT_BYTES);
	char *copy = parcel_bytes(&d->parcel, len + 1);
	memcpy(copy, text, len);
	return copy;
}

static bool is_ours(const char *key)
{
	static const char *const ours[] = {STORY_ANNOTATION, DIRECTIVES_ANNOTATION, HOLD_ANNOTATION,
		WAITING_ANNOTATION, OUTCOMES_ANNOTATION, STOPPING_ANNOTATION,
		BOOKED_START_ANNOTATION};
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (strcmp(key, ours[i]) == 0)
			return true;
	return false;
}

/* Counts the owner's annotations in bytes, as the API server does. */
static int32_t bytes_of(const cJSON *annotations)
{
	size_t n = 0;
	json_each(a, annotations) {
		if (a->string && a->valuestring && !is_ours(a->string))
			n += strlen(a->string) + strlen(a->valuestring);
	}
	return n < INT32_MAX ? (int32_t)n : INT32_MAX;
}

void job_annotations(struct decoder *d, const cJSON *o, struct job *j)
{
	const struct path *at = PATH(PATH(NULL, "metadata"), "annotations");
	const cJSON *annotations = object_field(d, at->up, meta_of(o), "annotations");
	const char *story = json_text(annotations, STORY_ANNOTATION);
	const char *directives = json_text(annotations, DIRECTIVES_ANNOTATION);
	struct json *notes = story || directives ? json_new(NOTE_TREE_MAX) : NULL;
	j->annotations.present = annotations != NULL;
	j->annotations.bytes = bytes_of(annotations);
	if (story)
		keep_story(d, at, story, notes, j);
	restore_directives(d, o, directives, notes, j);
	json_free(notes);
	check_directives(d, j);
	read_times(d, at, annotations, j);
	read_min_parallelism(d, at, annotations, j);
	read_grow(d, at, annotations, j);
	read_completions_follow(d, at, annotations, j);
	job_terms_field(d, at, annotations, j);
	job_after_field(d, at, annotations, j);
	read_nice(d, at, annotations, j);
	read_submitter(d, annotations, j);
	read_queued_at(annotations, j);
	const char *hold = text_field(d, at, annotations, HOLD_ANNOTATION, HOLD_MAX_BYTES);
	const char *notice = json_text(annotations, WAITING_ANNOTATION);
	if (json_get(annotations, WAITING_ANNOTATION))
		j->annotations.waiting = beginning(d, notice ? notice : "");
	if (json_get(annotations, HOLD_ANNOTATION) && strcmp(hold, "false") != 0)
		j->hold = hold;
}
