/*
 * /api/v1/week: the week of a ClusterQueue (sluice/week.h), as JSON.
 *
 * Seven days, from the beginning of today in UTC. Openings and steps are clipped to that. A list that was
 * cut has "more": true, and "until": it is right up to there. Factors are exact decimals, as in the
 * PricePlan.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_WEEK_H
#define SLUICE_CONTROLLER_ANSWERS_WEEK_H

#include "controller/answers/api.h"

struct http_reply week_answer(
	const struct api_sources *s, const struct api_request *r, struct buf *out);

#endif
