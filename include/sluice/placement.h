/*
 * Placement: may a pod with these directives run on the nodes of this flavor?
 *
 * The rules are Kueue's (docs/queues.md):
 *
 * - Taints of effect NoSchedule and NoExecute must be tolerated by the pod or by the flavor's own
 *   tolerations.
 * - Of the pod's node selector and required node affinity only the keys count that the flavor
 *   itself labels its nodes with. The rest is the scheduler's business. A term left empty so
 *   matches.
 * - Terms are OR-ed, the requirements of a term AND-ed. Operators: In, NotIn, Exists, DoesNotExist,
 *   Gt, Lt.
 *
 * Everything here borrows: the strings and arrays belong to the builder of the record.
 */
#ifndef SLUICE_PLACEMENT_H
#define SLUICE_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct label {
	const char *key, *value;
};

enum taint_effect {
	TAINT_ANY, /* only in a toleration: every effect */
	TAINT_NO_SCHEDULE,
	TAINT_PREFER_NO_SCHEDULE,
	TAINT_NO_EXECUTE,
};

struct taint {
	const char *key, *value; /* value "" when absent */
	enum taint_effect effect;
};

enum toleration_op {
	TOLERATION_EQUAL,
	TOLERATION_EXISTS,
	TOLERATION_LT, /* numeric, as the API server's TaintTolerationComparisonOperators */
	TOLERATION_GT,
};

struct toleration {
	const char *key; /* "" with Exists: every taint */
	const char *value;
	enum toleration_op op;
	enum taint_effect effect;
	bool has_seconds;
	int64_t seconds; /* tolerationSeconds; carried, not judged */
};

enum selector_op {
	SELECTOR_IN,
	SELECTOR_NOT_IN,
	SELECTOR_EXISTS,
	SELECTOR_DOES_NOT_EXIST,
	SELECTOR_GT,
	SELECTOR_LT,
};

struct requirement {
	const char *key;
	enum selector_op op;
	const char *const *values;
	size_t nvalues;
};

struct selector_term {
	const struct requirement *requirements;
	size_t nrequirements;
};

/* A term of node affinity: both parts must hold. A term with neither matches no node. */
struct node_term {
	struct selector_term labels; /* matchExpressions */
	struct selector_term fields; /* matchFields: metadata.name with In or NotIn, one value */
};

struct preferred_term {
	int32_t weight; /* 1 to 100 */
	struct node_term term;
};

/* The part of a pod template that says where it may run. */
struct placement {
	const struct label *node_selector;
	size_t nnode_selector;
	const struct toleration *tolerations;
	size_t ntolerations;
	const struct node_term *terms; /* required node affinity; none: no condition */
	size_t nterms;
	const struct preferred_term *preferred; /* carried, not judged */
	size_t npreferred;
	bool has_affinity;    /* spec.affinity is there, whatever is in it */
	bool affinity_unread; /* its node affinity is not all understood: nothing can be joined */
};

/* Labels and annotations that a start adds to pods, for keys of which their owner says nothing. */
struct pod_metadata {
	const struct label *labels;
	size_t nlabels;
	const struct label *annotations;
	size_t nannotations;
};

/* What a start must know of the labels, or the annotations, of a pod template. */
struct template_keys {
	const char *const *own; /* the owner's, but for those that no start adds */
	size_t nown;
	const char *const *old; /* an earlier start's, still as that wrote them */
	size_t nold;
};

struct template_metadata {
	struct template_keys labels, annotations;
	bool has_annotations; /* the map is there */
	bool old_affinity;    /* its node affinity is what an earlier start made of the owner's */
};

/* The nodes a flavor stands for. */
struct node_group {
	const struct label *labels;
	size_t nlabels;
	const struct taint *taints;
	size_t ntaints;
	const struct toleration *tolerations; /* what the flavor adds to the pods it takes */
	size_t ntolerations;
};

enum placement_verdict {
	PLACEMENT_FITS,
	PLACEMENT_UNTOLERATED_TAINT,
	PLACEMENT_SELECTOR_MISMATCH, /* node selector or affinity */
};

/* Says whether pods with directives p may run on the nodes of a flavor. ret_taint (may be NULL)
 * gets the taint that is not tolerated. */
enum placement_verdict placement_match(
	const struct placement *p, const struct node_group *g, const struct taint **ret_taint);

bool toleration_covers(const struct toleration *t, const struct taint *taint);

/* Tells whether a selector takes the labels, as metav1.LabelSelector (matchLabels are In with one
 * value here): every requirement must hold; NotIn and DoesNotExist hold for an absent key. */
bool labels_match(const struct label *labels, size_t nlabels, const struct selector_term *selector);

#endif
