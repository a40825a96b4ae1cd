/*
 * The parts that decoders are made of, one file each. All of them follow decode_text.h: they go on
 * after a fault, and allocate in the decoder's parcel.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_PARTS_H
#define SLUICE_CONTROLLER_WIRE_DECODE_PARTS_H

#include "queue/cluster/pod.h"
#include "controller/wire/decode_text.h"
#include "sluice/job.h"
#include "sluice/placement.h"
#include "sluice/policy.h"
#include "sluice/spec.h"

/* decode_meta.c. Checks that o is an object of this kind (if it says its kind), with a name that is
 * text; ERR_INVALID otherwise. */
int meta_check(const cJSON *o, const char *kind, struct err *e);
/* Decodes an object of this kind, checked and filled into a block of its own; see
 * decode_in_block(). */
int decode_kind(const cJSON *o, const char *kind, size_t guess, decode_fill fill, void **ret,
	struct err *e);
/* Defines the function of decode.h that decodes one kind. */
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
/* Gives the owner that is the controller, or NULL. meta_owner_job(): true when that is a Job. */
const cJSON *meta_controller(const cJSON *o);
bool meta_owner_job(const cJSON *o, struct uid *ret);

/* decode_admin.c. Ends the decoding of an admin's object: what was found wrong becomes
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

/* decode_weight.c. Reads spec.fairSharing.weight, a quantity; 1 when absent. */
double weight_field(struct decoder *d, const struct path *up, const cJSON *spec);

/* decode_pod.c. Reads what a pod asks for; spec is the pod's. */
struct pod_resources pod_field(struct decoder *d, const struct path *at, const cJSON *spec);
/* Reads once more what the containers ask for, from a text of resources.h. */
void pod_reread(
	struct decoder *d, const struct path *at, const cJSON *text, struct pod_resources *pod);
#define AMOUNTS_MAX 64 /* resources in one list */
/* Reads object.key: resource names and their amounts. */
struct resource_list amounts_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key);

/* decode_placement.c. */
#define TOLERATIONS_MAX 1024   /* on the wire: the user's own and what flavors added */
#define NODE_SELECTOR_MAX 1024 /* on the wire, as tolerations */
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
/* Reads a list of requirements: matchExpressions, matchFields. */
struct selector_term requirements_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key);
/* Reads a metav1.LabelSelector: matchLabels and matchExpressions, all of which must hold. */
struct selector_term label_selector(
	struct decoder *d, const struct path *at, const cJSON *selector);
/* Reads the nodeAffinity object o, at `at`, into terms and preferred. */
void node_affinity_field(
	struct decoder *d, const struct path *at, const cJSON *o, struct placement *ret);
/* Reads nodeSelector, tolerations and node affinity of a pod's spec. */
struct placement placement_field(struct decoder *d, const struct path *at, const cJSON *spec);
/* Whether node selectors and tolerations are equal, in whatever order. */
bool directives_same(const struct placement *a, const struct placement *b);

/* Whether node affinities are equal, term by term. */
bool node_affinity_same(const struct placement *a, const struct placement *b);

/* decode_metadata.c. Whether the API server takes this as a label's key, or value. */
bool label_key_valid(const char *key);
bool label_value_valid(const char *value);
/* Reads labels and annotations that are added to pods: of object, or of spec.podTemplate. */
struct pod_metadata pod_metadata_field(
	struct decoder *d, const struct path *up, const cJSON *object);
struct pod_metadata queue_metadata_field(
	struct decoder *d, const struct path *up, const cJSON *spec);
/* Reads the keys of a Job's pod template. applied: what an earlier start has added, or NULL. */
struct template_metadata template_metadata_field(
	struct decoder *d, const struct path *up, const cJSON *template, const cJSON *applied);
/* Reads the labels of the template that labels->old names. */
const struct label *added_labels_field(struct decoder *d, const struct path *up,
	const cJSON *template, const struct template_keys *labels, size_t *ret_count);

/* decode_amount.c: times, shares and money as policies and annotations write them. */
#define SPAN_MAX_MS (INT64_C(31) * 24 * 3600 * 1000)
/* Reads a duration with its units, as Go writes them ("30m", "1h30m", "0s"), at most max_ms.
 * Absent: fallback. */
int64_t span_field(struct decoder *d, const struct path *up, const cJSON *object, const char *key,
	int64_t max_ms, int64_t fallback);
/* Reads "10%" or "12.5%", at most 1000%; 0 when absent. */
int32_t permille_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key);
/* Reads decimals in strings, to millionths. A factor is at most FACTOR_MAX, a price at most
 * PRICE_MAX an hour. value NULL: a fault, for it is missing. */
#define FACTOR_MAX 1000
#define PRICE_MAX 1000000000
#define AMOUNT_MAX INT64_C(9000000000000)
int64_t factor_value(struct decoder *d, const struct path *at, const cJSON *value);
int64_t price_value(struct decoder *d, const struct path *at, const cJSON *value);
int64_t amount_value(struct decoder *d, const struct path *at, const cJSON *value);
/* Whether name is what a price may be for: "cpu", "memory-gib", "nvidia.com/gpu". Bytes are priced
 * by the GiB only. False, and a fault, when it is not. */
bool priced_unit(struct decoder *d, const struct path *at, const char *name);
bool priced_per_gib(const char *unit);
/* Reads object.currency: 3 to 16 letters and digits. */
const char *currency_field(struct decoder *d, const struct path *up, const cJSON *object);
/* Reads a required name; example is one. */
const char *needed_text(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, const char *example);
/* Reads names of ClusterQueues, or globs of them with * and ?; namespaced: of LocalQueues,
 * "namespace/name". */
const char *const *queue_globs_field(struct decoder *d, const struct path *up, const cJSON *object,
	const char *key, bool namespaced, size_t *ret_count);

/* decode_lending.c. Reads on what kinds of room a Job may run, and its pod as the owner wrote it.
 * All else of the Job must have been decoded. */
void job_lending(struct decoder *d, const cJSON *o, struct job *j);
/* Whether the podFailurePolicy of a Job's spec ignores DisruptionTarget before any rule that might
 * count an evicted pod as a failure. */
bool ignores_disruption(const cJSON *spec);

/* decode_notes.c. Read labels and annotations of a Job, whose spec must have been decoded. */
void job_labels(struct decoder *d, const cJSON *o, struct job *j);
void job_annotations(struct decoder *d, const cJSON *o, struct job *j);

/* decode_suspender.c. Reads suspended_* and suspender of a Job that others suspended. */
void job_suspender(struct decoder *d, const cJSON *o, struct job *j);
/* Whether others than we set spec.suspend of a Job that runs. False where nobody is named. */
bool resumed_by_other(const cJSON *o);

/* decode_terms.c. Reads the annotations about time and money. */
void job_terms_field(
	struct decoder *d, const struct path *at, const cJSON *annotations, struct job *j);

/* decode_after.c. Reads the annotations with the Jobs that a Job waits for
 * (sluice/dependency.h). */
void job_after_field(
	struct decoder *d, const struct path *at, const cJSON *annotations, struct job *j);

/* decode_template.c. What the owner wrote of a template, decoded before the template is read for
 * the scheduler and quotas. */
struct own_parts {
	struct pod_resources resources;
	struct placement placement;
	bool restored_affinity; /* the node affinity is that of placement, not the template's */
	struct template_keys labels; /* .old: not its owner's */
};
struct pod *template_field(struct decoder *d, const char *ns, const struct path *up, const cJSON *o,
	const struct own_parts *own);

/* decode_status.c. Reads a Job's status; needs completions and indexed. */
void job_status(struct decoder *d, const cJSON *o, struct job *j);

#endif
