#include "controller/kube/awake.h"

#include "base/monotonic.h"

int64_t awake_since_ms(const struct awake *a)
{
	int64_t now_ms = monotonic_ms();
	return now_ms - a->beat_ms > a->asleep_ms ? now_ms : a->since_ms;
}

static void on_beat(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct awake *a = w->data;
	(void)loop;
	(void)revents;
	a->since_ms = awake_since_ms(a);
	a->beat_ms = monotonic_ms();
}

void awake_init(struct awake *a, struct ev_loop *loop, int64_t asleep_ms)
{
	int64_t now_ms = monotonic_ms();
	*a = (struct awake){
		.loop = loop, .asleep_ms = asleep_ms, .beat_ms = now_ms, .since_ms = now_ms};
	double pause = (double)asleep_ms / 10000.0;
	ev_timer_init(&a->beat, on_beat, pause, pause);
	a->beat.data = a;
	ev_timer_start(loop, &a->beat);
	ev_unref(loop);
}

void awake_done(struct awake *a)
{
	ev_ref(a->loop);
	ev_timer_stop(a->loop, &a->beat);
}
