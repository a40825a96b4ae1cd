/*
 * Words about the cluster itself: nodes, and what matters of a Job's pods for them; read by
 * words.c. Nodes and pods are in the words of test/unit/cluster/words.h.
 *
 *   cluster is known                 all of it has been told once: from now on it counts
 *   node NAME [+RESOURCE=QUANTITY] [KEY=VALUE] [!KEY=VALUE:EFFECT] [cordon]
 *                                    10 cpu and 10 pods unless it says otherwise
 *   drop node NAME
 *   bind POD to NODE of JOB "WORDS"  a bound pod; of -: of no known Job. Again: as it is now
 *   unbind POD
 *   queue .. [fit=Ignore|Possible|Now]
 *   job .. [pod="WORDS"]             more about its pods: ports, near/.., apart/.., labels, node=,
 *                                    scheduler=
 *   flavor .. [nodes Fixed|Autoscaled]
 *   nodepool NAME [KEY=VALUE|"TERM"] of Karpenter: a label of its nodes, a requirement on them
 *   drop nodepool NAME
 *   deviceclass NAME [RESOURCE]      with that extendedResourceName
 *   drop deviceclass NAME
 *   deviceclasses known|unknown      whether they may be read
 *   autoscaler works|silent          cluster-autoscaler
 *   runtimeclass NAME [select=K:V]   what a RuntimeClass asks of nodes
 *
 *   pdb NS/NAME allowed=N ["TERM"]   a PodDisruptionBudget: so many of the pods that it selects may
 *                                    go now; without a term it selects all of the namespace
 *   drop pdb NS/NAME
 *   job, edit .. [added=KEY:VALUE]   a label of its pods that the start of its run added
 *   job .. [grace=SECONDS]           how long its pods may take to stop. What a Job says of its
 *                                    pods counts for victims once it is seen with a reservation:
 *                                    "edit NS/NAME" shows it again as it is
 *
 *   resourcequota NS/NAME RESOURCE=USED/HARD .. [scope=SCOPE ..] [version=N]
 *                                    its status; =HARD alone: not counted yet. Quotas have been
 *                                    seen as of that version
 *   drop resourcequota NS/NAME
 *   job, edit .. [version=N active=N] what its status says, as of a version
 *
 *   expect: nowhere QUEUE N          how many of its Jobs wait because no node suits
 *   expect: beyond QUEUE N           ... because they ask for more than a whole ResourceQuota
 *   expect: pods are wanted|unwanted
 */
#ifndef SLUICE_TEST_QUEUE_WORDS_CLUSTER_H
#define SLUICE_TEST_QUEUE_WORDS_CLUSTER_H

#include "base/arena.h"
#include "words.h"

/* False: not "fit=". */
bool words_cluster_of_queue(struct clusterqueue_spec *s, const char *word);

/* The template of a Job, its other words being read; text: of its word pod=, or NULL. */
const struct pod *words_template(struct arena *a, const struct job *j, const char *text);

/* *ret_known false: the line is about something else. */
bool words_tell_cluster(struct words *w, char **word, size_t n, bool *ret_known);

/* False: the expectation is none of these. */
bool words_say_cluster(struct words *w, char **word, size_t n, char *got, size_t size);

/* "nodes Autoscaled". False: the word is another. */
bool words_pool_of_flavor(struct flavor_spec *s, const char *word, const char *value);

#endif
