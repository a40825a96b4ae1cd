/*
 * Tells the listener of a call (include/sluice/queue_call.h): queue_tell(q, DROP_JOB, .uid = *uid).
 *
 * Each call that may change the queue is told, so it also counts them, for what is remembered in
 * between.
 *
 * Facts are told at the top of their function, where what they say still stands; what gives something
 * is told at its end.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_TELL_H
#define SLUICE_QUEUE_CORE_MODEL_TELL_H

#include "queue/core/model/state.h"

#define queue_tell(q, call, ...)                                                                   \
	do {                                                                                       \
		(q)->counters.calls++;                                                             \
		if ((q)->listener.hear)                                                            \
			(q)->listener.hear(&(struct queue_call){.kind = CALL_##call, __VA_ARGS__}, \
				(q)->listener.ctx);                                                \
	} while (0)

#endif
