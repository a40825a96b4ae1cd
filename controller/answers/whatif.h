/*
 * A WhatIf: what would happen if some objects were different.
 *
 *   /apis/visibility.sluice.dev/v1alpha1/whatifs?object=JSON[&object=JSON...][&drop=KIND/NAME...]
 *
 * The queue is played as it is, and with these objects in place of the live ones of their names.
 * The answer tells which Jobs start earlier, which later, and what they cost. Nothing is written.
 *
 * The right is `list whatifs`, in all namespaces: the answer names Jobs of all.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_WHATIF_H
#define SLUICE_CONTROLLER_ANSWERS_WHATIF_H

#include "controller/net/http.h"
#include "controller/answers/sources.h"
#include "controller/answers/job_query.h"

#define WHATIFS_PATH VISIBILITY_ROOT "/whatifs"

struct link;

/* Takes a question for a WhatIf, as start_review_take() does. */
void whatif_take(const struct answer_sources *from, struct link *asked, struct http_question *q,
	const char *who);

#endif
