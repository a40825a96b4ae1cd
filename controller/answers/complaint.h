/*
 * Complaints: errors as Kubernetes' own Status objects, so that kubectl prints their sentence.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_COMPLAINT_H
#define SLUICE_CONTROLLER_ANSWERS_COMPLAINT_H

#include <stdbool.h>

#include "base/json_writer.h"
#include "controller/net/http.h"

/* Appends the Status; or puts it as a member. */
void complaint_put(struct buf *out, unsigned status, const char *sentence);
void complaint_put_member(
	struct json_writer *w, const char *key, unsigned status, const char *sentence);
/* Answers q with the Status. */
void complain(struct http_question *q, unsigned status, const char *sentence);
/* Answers q with 404: no QueuedJob has that name. */
void complain_of_no_job(struct http_question *q, const char *name);
/* Protects the controller's memory from slow clients. True: too much is unsent to allow so many
 * bytes more, and q is answered with that and the cure. */
bool complain_of_unsent(struct http_question *q, size_t more, const char *cure);

#endif
