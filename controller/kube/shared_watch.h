/*
 * One watch of one resource for several subscribers, which would else each have their own.
 *
 * Each subscriber is told what a watch of its own would tell: begin, the objects, end, and from
 * then on what happens. The watch exists while there is a subscriber. A subscriber that joins later
 * makes it list again, so all are told a whole list once more. That is seldom, and any handler of a
 * watch allows it.
 *
 * Subscribe and leave from outside the watch's own callbacks, as from a tick.
 */
#ifndef SLUICE_CONTROLLER_KUBE_SHARED_WATCH_H
#define SLUICE_CONTROLLER_KUBE_SHARED_WATCH_H

#include "controller/kube/watch.h"

struct kube_shared_watch;
struct kube_subscriber;

struct kube_shared_watch *kube_shared_watch_new(
	struct kube_client *client, const struct kube_watch_options *options);
/* Frees it after all subscribers have left. NULL is fine. */
void kube_shared_watch_free(struct kube_shared_watch *s);

/* Joins and leaves, as kube_watch_new() and kube_watch_free() do. */
struct kube_subscriber *kube_shared_watch_join(
	struct kube_shared_watch *s, const struct kube_watch_handler *handler, void *ctx);
void kube_subscriber_leave(struct kube_subscriber *subscriber); /* NULL is fine */

/* Tells for how long the watch has not been up, as kube_watch_stalled_ms(); 0 without a
 * subscriber. */
int64_t kube_shared_watch_stalled_ms(const struct kube_shared_watch *s);

void kube_shared_watch_relist(struct kube_shared_watch *s);

#endif
