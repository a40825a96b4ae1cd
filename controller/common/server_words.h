/*
 * Words of the API server, of etcd and of webhooks by which something is decided here, for there is
 * no status and no reason for it.
 *
 * Each row of server_words.c tells what happens if a later version uses other words: that is
 * slower, or told less well, and as safe. All of them stand in the API server of Kubernetes 1.37.
 */
#ifndef SLUICE_CONTROLLER_COMMON_SERVER_WORDS_H
#define SLUICE_CONTROLLER_COMMON_SERVER_WORDS_H

#include <stdbool.h>

#include "base/slice.h"

enum server_words {
	SERVER_FIELD_IS_IMMUTABLE,
	SERVER_ANNOTATIONS_TOO_LONG,
	SERVER_OBJECT_TOO_LARGE,
	SERVER_REQUEST_TOO_LARGE,
	SERVER_QUOTA_EXCEEDED,
	SERVER_NO_RIGHT,
	SERVER_WEBHOOK_FAILED,
	SERVER_WEBHOOK_REFUSED,
};

bool server_says(struct slice text, enum server_words what);

#endif
