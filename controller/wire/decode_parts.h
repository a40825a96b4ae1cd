/*
 * The parts decoders are made of, one file each. All of them follow decode_text.h: they go on after
 * a fault, and allocate in the decoder's parcel.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_PARTS_H
#define SLUICE_CONTROLLER_WIRE_DECODE_PARTS_H

#include "queue/cluster/pod.h"
#include "controller/wire/decode_text.h"
#include "sluice/job.h"
#include "sluice/placement.h"
#include "sluice/policy.h"
#include "sluice/spec.h"

/* decode_meta.c. What every object must have to be one: of this kind (if it says its kind), with a
 * name that is text. ERR_INVALID otherwise. */
int meta_check(const cJSON *o, const char *kind, struct err *e);
/* An object of this kind, checked and filled into a block of its own; see decode_in_block(). */
int decode_kind(const cJSON *o, const char *kind, size_t guess, decode_fill fill, void **ret,
	struct err *e);
/* The function of decode.h that does so for one kind. */
#define DECODER(function, record, kind, guess, fill)                                               \
	int function(const cJSON *o, struct record **ret, struct err *e)                           \
	{                                                                                          \
		void *block = NULL;                                                                \
		int rc = decode_kind(o, kind, guess, fill, &block, e);                             \
		if (rc == 0)                                                                       \
			*ret = block;                                                              \
		return rc;                                                                         \
	}
const cJSON *meta_of(const cJSON *o);
const cJSON *annotations_of(const cJSON *o);
int64_t meta_generation(const cJSON *o);
bool meta_deleting(const cJSON *o);
/* Fills META (sluice/fields/members.h) of s, the spec of the object o. */
#define meta_fields(d, o, s)                                                                       \
	((s)->name = text_keep(d, NULL, decode_name(o), NAME_MAX_BYTES),                           \
		(s)->generation = meta_generation(o), (s)->deleting = meta_deleting(o))
/* Of all owners one is the controller; NULL. True when it is a Job. */
const cJSON *meta_controller(const cJSON *o);
bool meta_owner_job(const cJSON *o, struct uid *ret);

/* decode_admin.c. Fields and ends that admins' objects share: what was found wrong becomes
 * "ClusterQueue batch: spec.stopPolicy: ...". */
int decoder_verdict(const struct decoder *d, const char *kind, const cJSON *o, struct err *e);

/*
 * decode_fields.c. Reads the fields of an object, o at `at`, into the members that the rows of
 * sluice/fields/X.def say, in their order. Members that a row leaves to the decoder of the kind are
 * left as they are.
 */
#define FIELDS(tag)                                                                                \
	void tag##_fields(                                                                         \
		struct decoder *d, const struct path *at, const cJSON *o, struct tag *ret);
FIELDS(clusterqueue_spec)
FIELDS(cohort_spec)
FIELDS(localqueue_spec)
FIELDS(runpolicy_spec)
FIELDS(budget_spec)
FIELDS(advance_reservation_spec)
#undef FIELDS

/* decode_weight.c: spec.fairSharing.weight, a quantity; 1 when absent. */
double weight_field(struct decoder *d, const struct path *up, const cJSON *spec);

/* decode_pod.c. spec is the pod's; what it asks for. */
struct pod_resources pod_field(struct decoder *d, const struct path *at, const cJSON *spec);
/* What its containers ask for, once more, from a text of resources.h. */
void pod_reread(
	struct decoder *d, const struct path *at, const cJSON *text, struct pod_resources *pod);
#define AMOUNTS_MAX 64 /* resources in one list */
/* object.key: resource names and their amounts. */
struct resource_list amounts_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key);

/* decode_placement.c. */
#define TOLERATIONS_MAX 1024   /* on the wire: the user's own and what flavors added */
#define NODE_SELECTOR_MAX 1024 /* the same */
#define OWN_DIRECTIVES_MAX 64  /* of each, the user's own */
#define TERMS_MAX 64
#define REQUIREMENTS_MAX 64
#define VALUES_MAX 256

const struct label *labels_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, size_t *ret_count);
const struct toleration *tolerations_field(struct decoder *d, const struct path *up,
	const cJSON *object, size_t max, size_t *ret_count);
const struct taint *taints_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, size_t max, size_t *ret_count);
/* A list of requirements: matchExpressions, matchFields. */
struct selector_term requirements_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key);
/* metav1.LabelSelector: matchLabels and matchExpressions, all of which must hold. */
struct selector_term label_selector(
	struct decoder *d, const struct path *at, const cJSON *selector);
/* The nodeAffinity object o, at `at`, into terms and preferred. */
void node_affinity_field(
	struct decoder *d, const struct path *at, const cJSON *o, struct placement *ret);
/* nodeSelector, tolerations and node affinity of a pod's spec. */
struct placement placement_field(struct decoder *d, const struct path *at, const cJSON *spec);
/* The same node selector and the same tolerations, in whatever order? */
bool directives_same(const struct placement *a, const struct placement *b);

/* The same node affinity, term by term? */
bool node_affinity_same(const struct placement *a, const struct placement *b);

/* decode_metadata.c. What the API server takes for the key, the value of a label. */
bool label_key_valid(const char *key);
bool label_value_valid(const char *value);
/* labels and annotations that are added to pods; queue_metadata_field() reads spec.podTemplate. */
struct pod_metadata pod_metadata_field(
	struct decoder *d, const struct path *up, const cJSON *object);
struct pod_metadata queue_metadata_field(
	struct decoder *d, const struct path *up, const cJSON *spec);
/* The keys of a Job's pod template; applied: what an earlier start has added, or NULL. */
struct template_metadata template_metadata_field(
	struct decoder *d, const struct path *up, const cJSON *template, const cJSON *applied);
/* Those of the template that labels->old names. */
const struct label *added_labels_field(struct decoder *d, const struct path *up,
	const cJSON *template, const struct template_keys *labels, size_t *ret_count);

/* decode_amount.c: times, shares and money as policies and annotations write them. */
#define SPAN_MAX_MS (INT64_C(31) * 24 * 3600 * 1000)
/* A duration with its units, as Go writes them ("30m", "1h30m", "0s"), at most max_ms. Absent:
 * fallback. */
int64_t span_field(struct decoder *d, const struct path *up, const cJSON *object, const char *key,
	int64_t max_ms, int64_t fallback);
/* "10%" or "12.5%", at most 1000%; 0 when absent. */
int32_t permille_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key);
/* Decimals in strings, to millionths. A factor is at most FACTOR_MAX, a price at most PRICE_MAX an
 * hour. value NULL: it is missing. */
#define FACTOR_MAX 1000
#define PRICE_MAX 1000000000
#define AMOUNT_MAX INT64_C(9000000000000)
int64_t factor_value(struct decoder *d, const struct path *at, const cJSON *value);
int64_t price_value(struct decoder *d, const struct path *at, const cJSON *value);
int64_t amount_value(struct decoder *d, const struct path *at, const cJSON *value);
/* What a price is for, as PricePlans name it: "cpu", "memory-gib", "nvidia.com/gpu". What is
 * counted in bytes is priced by the GiB only. False, and a fault, when it is none. */
bool priced_unit(struct decoder *d, const struct path *at, const char *name);
bool priced_per_gib(const char *unit);
/* object.currency: 3 to 16 letters and digits. */
const char *currency_field(struct decoder *d, const struct path *up, const cJSON *object);
/* A required name; example is one. */
const char *needed_text(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, const char *example);
/* Names of ClusterQueues, or globs of them with * and ?; and of LocalQueues, "namespace/name". */
const char *const *queue_globs_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, bool namespaced, size_t *ret_count);

/* decode_lending.c. On what kinds of room a Job may run; pod as its owner wrote it. All else of the
 * Job must have been decoded. */
void job_lending(struct decoder *d, const cJSON *o, struct job *j);
/* spec is the Job's: does its podFailurePolicy ignore DisruptionTarget, before
 * any rule that might count an evicted pod as a failure? */
bool ignores_disruption(const cJSON *spec);

/* decode_notes.c: labels and annotations of a Job. Its spec must have been decoded. */
void job_labels(struct decoder *d, const cJSON *o, struct job *j);
void job_annotations(struct decoder *d, const cJSON *o, struct job *j);

/* decode_suspender.c: of a Job that is suspended, and was not by us: the suspended_* and suspender of
 * j. */
void job_suspender(struct decoder *d, const cJSON *o, struct job *j);
/* ... and of one that runs: others set spec.suspend, and we do not. False where nobody is named. */
bool resumed_by_other(const cJSON *o);

/* decode_terms.c: the annotations that speak of time and money. */
void job_terms_field(
	struct decoder *d, const struct path *at, const cJSON *annotations, struct job *j);

/* decode_after.c: the annotations that name the Jobs it waits for (sluice/dependency.h). */
void job_after_field(
	struct decoder *d, const struct path *at, const cJSON *annotations, struct job *j);

/* decode_template.c. What the scheduler and quotas look at in the pods of a template; own: what its
 * owner wrote of it, which has been decoded. */
struct own_parts {
	struct pod_resources resources;
	struct placement placement;
	bool restored_affinity; /* its node affinity is that of placement, not the template's */
	struct template_keys labels; /* .old: not its owner's */
};
struct pod *template_field(struct decoder *d, const char *ns, const struct path *up, const cJSON *o,
	const struct own_parts *own);

/* decode_status.c: needs completions and indexed. */
void job_status(struct decoder *d, const cJSON *o, struct job *j);

#endif
