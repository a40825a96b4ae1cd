/* For tests of the core: no feature is there. */
#include "queue/core/model/feature.h"

const struct feature *const FEATURE[] = {NULL};
const unsigned FEATURE_COUNT = 0;
