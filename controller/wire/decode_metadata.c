/*
 * Labels and annotations of pod templates: what spec.podTemplate of a flavor or a queue adds, and
 * what a Job's own template has.
 *
 * Whatever the API server would refuse in a Job is refused here: else each start in such a flavor
 * would fail. Keys that belong to Kubernetes, to the Job controller or to Sluice are reserved, for
 * these read them; so are the keys of Koordinator that Sluice reads.
 */
#include <string.h>

#include "controller/wire/decode_parts.h"
#include "controller/wire/resources.h"
#include "sluice/keys.h"

#define KEY_NAME_MAX 63
#define KEY_PREFIX_MAX 253
#define LABEL_VALUE_MAX 63
#define METADATA_MAX 16		  /* of labels, of annotations; the CRD allows 8 */
#define ANNOTATIONS_TOGETHER 8192 /* bytes of keys and values; the CRD allows 2048 characters */
#define TEMPLATE_KEYS_MAX 16384	  /* of one Job; the API server's bound on bytes comes first */
#define APPLIED_MAX 512		  /* no start adds more: METADATA_MAX of each flavor and queue */
/* Comparisons: of the keys that a start may add, and of as many of the owner's, with each of
 * the former. */
#define LOOKUPS_MAX (2 * APPLIED_MAX * APPLIED_MAX)

/* ---- keys and values ------------------------------------------------------------------------- */

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Whether s is of letters and digits, and in between also of what `inner` has. */
static bool is_name(const char *s, size_t len, const char *inner)
{
	if (len == 0 || !is_alnum(s[0]) || !is_alnum(s[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_alnum(s[i]) && !strchr(inner, s[i]))
			return false;
	return true;
}

/* Whether s is names of a domain, divided by single dots, in small letters. */
static bool is_domain(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] >= 'A' && s[i] <= 'Z')
			return false;
	while (len > 0) {
		const char *dot = memchr(s, '.', len);
		size_t n = dot ? (size_t)(dot - s) : len;
		if (!is_name(s, n, "-"))
			return false;
		s += n + (dot != NULL);
		len -= n + (dot != NULL);
		if (dot && len == 0)
			return false;
	}
	return true;
}

bool label_key_valid(const char *key)
{
	const char *slash = strchr(key, '/'), *name = slash ? slash + 1 : key;
	size_t prefix = slash ? (size_t)(slash - key) : 0;
	if (slash && (prefix == 0 || prefix > KEY_PREFIX_MAX || !is_domain(key, prefix)))
		return false;
	return strlen(name) <= KEY_NAME_MAX && is_name(name, strlen(name), "-_.");
}

bool label_value_valid(const char *value)
{
	size_t len = strlen(value);
	return len == 0 || (len <= LABEL_VALUE_MAX && is_name(value, len, "-_."));
}

static bool is_in(const char *const *all, const char *key)
{
	for (; *all; all++)
		if (strcmp(*all, key) == 0)
			return true;
	return false;
}

/* Whether the key's domain is this one, or one of ours below sluice.dev. */
static bool is_of(const char *key, const char *domain)
{
	size_t len = strlen(domain);
	return strncmp(key, domain, len) == 0 && key[len] == '/';
}

/* Gives the owner of a reserved key; NULL: it is free. */
static const char *key_owner(const char *key)
{
	static const char *const job_controller[] = {"controller-uid", "job-name", NULL};
	static const char *const lending[] = {
		QOS_LABEL, LEGACY_QOS_KEY, TIER_LABEL, EVICTION_PRIORITY_ANNOTATION, NULL};
	const char *slash = strchr(key, '/'), *ours = strstr(key, ".sluice.dev/");
	if (is_of(key, "sluice.dev") || (ours && slash && ours < slash) || is_in(lending, key))
		return "Sluice";
	if (is_of(key, "batch.kubernetes.io") || is_in(job_controller, key))
		return "the Job controller";
	if (is_of(key, "kubernetes.io") || is_of(key, "k8s.io"))
		return "Kubernetes";
	return NULL;
}

/* ---- what admins add ------------------------------------------------------------------------- */

static void check_key(struct decoder *d, const struct path *at, const char *key)
{
	const char *owner = key_owner(key);
	if (!label_key_valid(key))
		decoder_fault(d, at, "is not a key; write e.g. team or example.com/team");
	else if (owner)
		decoder_fault(d, at, "is reserved for %s; choose another key", owner);
}

static void check_label(struct decoder *d, const struct path *at, const char *value)
{
	if (!label_value_valid(value))
		decoder_fault(d, at,
			"is not a label value: at most 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit");
}

static const struct label *added_field(struct decoder *d, const struct path *up,
	const cJSON *object, const char *key, bool is_label, size_t *ret_count)
{
	size_t n = 0, bytes = 0;
	const struct path *at = PATH(up, key);
	const cJSON *map = map_field(d, up, object, key, METADATA_MAX, ret_count);
	struct label *all = parcel_array(&d->parcel, *ret_count, sizeof(*all));
	json_each(item, map) {
		const struct path *here = PATH(at, item->string);
		all[n].key = text_keep(d, at, item->string, NAME_MAX_BYTES);
		all[n].value = text_field(d, at, map, item->string, ANNOTATIONS_TOGETHER);
		check_key(d, here, all[n].key);
		if (is_label)
			check_label(d, here, all[n].value);
		bytes += strlen(all[n].key) + strlen(all[n].value);
		n++;
	}
	if (bytes > ANNOTATIONS_TOGETHER)
		decoder_fault(d, at, "has %zu bytes together; at most %d are possible", bytes,
			ANNOTATIONS_TOGETHER);
	return all;
}

struct pod_metadata pod_metadata_field(
	struct decoder *d, const struct path *up, const cJSON *object)
{
	struct pod_metadata m = {0};
	m.labels = added_field(d, up, object, "labels", true, &m.nlabels);
	m.annotations = added_field(d, up, object, "annotations", false, &m.nannotations);
	return m;
}

struct pod_metadata queue_metadata_field(
	struct decoder *d, const struct path *up, const cJSON *spec)
{
	return pod_metadata_field(
		d, PATH(up, "podTemplate"), object_field(d, up, spec, "podTemplate"));
}

/* ---- what a Job has -------------------------------------------------------------------------- */

static bool is_as_applied(const cJSON *item, const cJSON *applied)
{
	const char *was = json_text(applied, item->string);
	return was && cJSON_IsString(item) && strcmp(was, item->valuestring) == 0;
}

static size_t members(const cJSON *map)
{
	size_t n = 0;
	json_each(item, map)
		n++;
	return n < TEMPLATE_KEYS_MAX ? n : TEMPLATE_KEYS_MAX;
}

/* Gives the keys that a start has added. Where no policy protects the annotation, it may say
 * anything, and each key of map is looked up in it. Too much of both: all keys are the owner's
 * own. */
static const cJSON *applied_field(const cJSON *applied, const char *key, const cJSON *map)
{
	const cJSON *added = json_object(applied, key);
	size_t n = members(added);
	return n <= APPLIED_MAX && n * members(map) <= LOOKUPS_MAX ? added : NULL;
}

/* Reads the keys of a map, but those that no start may add. applied: what an earlier start has
 * added, or NULL. */
static struct template_keys keys_of(
	struct decoder *d, const struct path *at, const cJSON *map, const cJSON *applied)
{
	struct template_keys k = {0};
	size_t most = members(map), n = 0;
	const char **own = parcel_array(&d->parcel, most, sizeof(*own));
	const char **old = parcel_array(&d->parcel, applied ? most : 0, sizeof(*old));
	json_each(item, map) {
		if (n++ == most)
			break;
		if (key_owner(item->string))
			continue;
		const char *key = text_keep(d, at, item->string, NAME_MAX_BYTES);
		if (applied && is_as_applied(item, applied))
			old[k.nold++] = key;
		else
			own[k.nown++] = key;
	}
	k.own = own;
	k.old = old;
	return k;
}

struct template_metadata template_metadata_field(
	struct decoder *d, const struct path *up, const cJSON *template, const cJSON *applied)
{
	const struct path *at = PATH(up, "metadata");
	const cJSON *meta = json_object(template, "metadata");
	const cJSON *labels = json_object(meta, "labels");
	const cJSON *annotations = json_object(meta, "annotations");
	return (struct template_metadata){
		.labels = keys_of(
			d, PATH(at, "labels"), labels, applied_field(applied, "labels", labels)),
		.annotations = keys_of(d, PATH(at, "annotations"), annotations,
			applied_field(applied, "annotations", annotations)),
		.has_annotations = annotations != NULL,
	};
}

const struct label *added_labels_field(struct decoder *d, const struct path *up,
	const cJSON *template, const struct template_keys *labels, size_t *ret_count)
{
	const struct path *at = PATH(PATH(up, "metadata"), "labels");
	const cJSON *map = json_object(json_object(template, "metadata"), "labels");
	struct label *all = parcel_array(&d->parcel, labels->nold, sizeof(*all));
	for (size_t i = 0; i < labels->nold; i++) {
		all[i].key = labels->old[i];
		all[i].value = text_keep(d, at, json_text(map, all[i].key), NAME_MAX_BYTES);
	}
	*ret_count = labels->nold;
	return all;
}
