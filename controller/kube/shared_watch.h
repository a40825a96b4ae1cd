/*
 * One watch of one resource for several subscribers, which would else each have their own.
 *
 * Each subscriber is told what a watch of its own would tell: begin, the objects, end, and from
 * then on what happens. The watch is there while there is a subscriber. One that comes when it is
 * up makes it list again, and so all are told a whole list once more: that is seldom, and what can
 * follow a watch can follow that.
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
/* All subscribers must have left. NULL is fine. */
void kube_shared_watch_free(struct kube_shared_watch *s);

/* As kube_watch_new() and kube_watch_free(). */
struct kube_subscriber *kube_shared_watch_join(
	struct kube_shared_watch *s, const struct kube_watch_handler *handler, void *ctx);
void kube_subscriber_leave(struct kube_subscriber *subscriber); /* NULL is fine */

/* As kube_watch_stalled_ms(); 0 while there is no subscriber. */
int64_t kube_shared_watch_stalled_ms(const struct kube_shared_watch *s);

/* Lists everything again, for all of them. */
void kube_shared_watch_relist(struct kube_shared_watch *s);

#endif
