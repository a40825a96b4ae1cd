/*
 * Publication: what a node's status is to say, and whether it is worth a write.
 *
 * There is one pool on a node, whichever names it is lent under. Under both, each shows what the
 * pods of the other leave of P, the less of the two estimates: batch = P - requests of gocran.io
 * pods, gocran = P - requests of batch pods. Units: batch-cpu thousandths of a core, gocran.io/cpu
 * whole ones, rounded down; memory bytes.
 *
 * On hold no figure rises, not even because pods of the other name are gone. Where there is no
 * figure none is written.
 *
 * Where a name is not lent under any more, or the node is disabled or degraded, "0" is written over
 * a figure. The key is not removed, for kubelets ignore a key that is missing. Where there never
 * was a figure nothing is written.
 *
 * In flight: a pod is bound, and its kubelet has not looked at it. Were the figure lowered below what is
 * bound, the kubelet would reject the pod (OutOfkubernetes.io/batch-cpu), and its Job could fail of that.
 * So for that moment no figure is lowered below what pods on the node ask for under its name: no other
 * pod fits in then, either. The caller says how long that may be.
 *
 * Written is
 *     at once             0 for disabled and degraded; what was never written; a figure that falls
 *                         below what pods on the node ask for, or to that while some are in flight;
 *                         a figure that another client changed;
 *     after period_s      what differs by more than diff_permille of what is there;
 *     after rewrite_s     what differs at all;
 * and never what is there already.
 */
#ifndef SLUICE_OVERCOMMIT_PUBLICATION_H
#define SLUICE_OVERCOMMIT_PUBLICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "overcommit/load.h"
#include "overcommit/strategy.h"

#define BATCH_CPU "kubernetes.io/batch-cpu"
#define BATCH_MEMORY "kubernetes.io/batch-memory"
#define GOCRAN_CPU "gocran.io/cpu"
#define GOCRAN_MEMORY "gocran.io/memory"

/* The figures of a node's status, in the units of the names (gocran.io/cpu whole cores); -1: no
 * such key. */
enum { FIGURES = 4 };

struct figures {
	union {
		struct {
			int64_t batch_cpu, batch_memory, gocran_cpu, gocran_memory;
		};
		int64_t each[FIGURES]; /* by figure_names */
	};
};

extern const char *const figure_names[FIGURES];
extern const struct figures no_figures; /* -1 each */
/* Tells whether there is a key of one of them. */
bool figures_any(const struct figures *f);

struct publication_input {
	const struct strategy *strategy;
	bool lend; /* false: disabled or degraded */
	bool hold; /* no figure may be raised: HELD, or one sample since the start */
	bool in_flight;
	struct load batch, gocran; /* what may be lent: thousandths of a core, bytes */
	/* What pods on the node ask for under each name: thousandths of a core, bytes. */
	struct load batch_asked, gocran_asked;
};

/* Returns what the status is to say. there: the less of what capacity and allocatable say now. */
struct figures publication_figures(const struct publication_input *in, const struct figures *there);

enum publication_why {
	PUBLISH_NOT,
	PUBLISH_FIRST,
	PUBLISH_DIFF,
	PUBLISH_OLD,
	PUBLISH_SAFETY,
	PUBLISH_FOREIGN,
	PUBLISH_OFF
};

/* Returns why a write is due now; of several reasons the first in the list under "Written is".
 * written: what we wrote last, all -1 when nothing since the start; written_ms: when, 0: unknown,
 * which is long ago. */
enum publication_why publication_due(const struct publication_input *in, const struct figures *want,
	const struct figures *there, const struct figures *written, int64_t written_ms,
	int64_t now_ms);

const char *publication_why_name(enum publication_why w); /* for metrics and the log */

#endif
