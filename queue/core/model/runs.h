/*
 * The events of runs, and who hears of them.
 *
 * Code that changes a run reports it by runs_before() and runs_after(). First the parts of the core
 * hear of it that index runs, then the features, in the order of features.c, then the parts of the
 * core that go by what features made of it: growth and the plan. The tables are in
 * queue/core/runs.c, a layer above. A feature that counts runs says so in its struct feature, and
 * adds nothing to the core.
 *
 * Most events are told after the change: `unpromised`, `unbooked` and `leaving` before it, and
 * `resized`, `gives` and `ended` twice, before and after.
 *
 *   promised     quota is promised: victims have to stop first;
 *   unpromised   the promise is taken back;
 *   reserved     quota is held: the run starts, or was found running (adopted);
 *   adopted      the run was found running: told after `reserved`;
 *   kept         quota is held because it was promised: told after `reserved`;
 *   reshaped     the pods turned out to be other ones;
 *   expected     the run is expected to take longer, or less long;
 *   confirmed    the API server has the start: it runs;
 *   resized      the run has fewer pods from now on, or more;
 *   gives        the run has to go on with fewer pods. They are still there;
 *   goes on      the run cannot give pods: it goes on as it is;
 *   booked       the plan has the run from now on, or until another moment;
 *   unbooked     the plan has the run not any more, or moves it;
 *   leaving      the run has to go. Its pods are still there, and its quota is not free;
 *   ended        its quota is free;
 *   forgotten    its record is freed.
 *
 * What runs give back is told to usage.h where lines are lowered, because the amount is known only
 * there.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_RUNS_H
#define SLUICE_QUEUE_CORE_MODEL_RUNS_H

struct queue;
struct reservation;

enum run_event {
	RUN_PROMISED,
	RUN_UNPROMISED,
	RUN_RESERVED,
	RUN_ADOPTED,
	RUN_KEPT,
	RUN_RESHAPED,
	RUN_EXPECTED,
	RUN_CONFIRMED,
	RUN_RESIZED,
	RUN_GIVES,
	RUN_GOES_ON,
	RUN_BOOKED,
	RUN_UNBOOKED,
	RUN_LEAVING,
	RUN_ENDED,
	RUN_FORGOTTEN,
};
#define RUN_EVENTS (RUN_FORGOTTEN + 1)

typedef void run_observer(struct queue *q, struct reservation *r);

/* Tell of an event before / after the change that it is about. */
void runs_before(struct queue *q, struct reservation *r, enum run_event event);
void runs_after(struct queue *q, struct reservation *r, enum run_event event);

#endif
