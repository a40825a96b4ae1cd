/*
 * Leadership: which controller leads, in the words of one that does not.
 *
 * A standby knows what is on the watch, and not what holds quota or was promised: its answers would
 * be wrong in ways that nobody sees. So it answers no question about Jobs, queues or costs, on no
 * port, and says which controller to ask.
 *
 * It goes by what the ledger said when the lease was last asked for. A lease that has ended since
 * may have been renewed where this one cannot see it: then no controller is known to lead.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_LEADERSHIP_H
#define SLUICE_CONTROLLER_ANSWERS_LEADERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/write/dispatcher.h"

struct leadership {
	bool leads;		    /* this controller leads */
	const char *identity;	    /* name of this controller */
	struct lease_heard lease;   /* the lease, which this controller does not hold, or not yet */
	const char *ledger_trouble; /* why the ledger is away, "" when it is up */
	int64_t now_ms;
};

enum { LEADERSHIP_TEXT_SIZE = 1024 };

/* Says why this controller cannot tell; NULL: it leads. cure: what to do where another one leads.
 * Returns ret. */
const char *leadership_why_not(
	const struct leadership *l, const char *cure, char ret[LEADERSHIP_TEXT_SIZE]);

#endif
