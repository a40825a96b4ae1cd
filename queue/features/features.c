/* The features that there are. Their order is behaviour: they are asked, told and explained in it. */
#include "queue/core/feature.h"

#define FEATURES(X)                                                                                \
	X(window)                                                                                  \
	X(price)                                                                                   \
	X(budget)                                                                                  \
	X(namespace_quota)                                                                         \
	X(singleton)                                                                               \
	X(user_limits)                                                                             \
	X(max_running)                                                                             \
	X(nodes)                                                                                   \
	X(bookings)

#define DECLARE(name) extern const struct feature name##_feature;
FEATURES(DECLARE)
#undef DECLARE

#define ONE(name) &name##_feature,
const struct feature *const FEATURE[] = {FEATURES(ONE)};
#undef ONE

const unsigned FEATURE_COUNT = sizeof(FEATURE) / sizeof(FEATURE[0]);
