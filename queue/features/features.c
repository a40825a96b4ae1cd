/* The features that there are, and where each is. Their order is behaviour: they are asked, told
 * and explained in it. */
#include "queue/core/model/feature.h"

#define FEATURES(X)                                                                                \
	X(window)	   /* windows/window_close.c */                                            \
	X(price)	   /* money/terms.c */                                                     \
	X(budget)	   /* money/budget_rule.c */                                               \
	X(namespace_quota) /* namespace/namespace_quota_rule.c */                                  \
	X(singleton)	   /* dependencies/singleton.c */                                          \
	X(dependencies)	   /* dependencies/dependency_wait.c */                                    \
	X(user_limits)	   /* limits/user_limits.c */                                              \
	X(max_running)	   /* limits/max_running.c */                                              \
	X(nodes)	   /* nodes/node_fit.c */                                                  \
	X(bookings)	   /* bookings/bookings_rule.c */

#define DECLARE(name) extern const struct feature name##_feature;
FEATURES(DECLARE)
#undef DECLARE

#define ONE(name) &name##_feature,
const struct feature *const FEATURE[] = {FEATURES(ONE)};
#undef ONE

const unsigned FEATURE_COUNT = sizeof(FEATURE) / sizeof(FEATURE[0]);
