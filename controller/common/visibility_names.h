/* The aggregated API by name: the controller serves it, and `sluice` asks it. */
#ifndef SLUICE_CONTROLLER_COMMON_VISIBILITY_NAMES_H
#define SLUICE_CONTROLLER_COMMON_VISIBILITY_NAMES_H

#define VISIBILITY_GROUP "visibility.sluice.dev"
#define VISIBILITY_VERSION "v1alpha1"
#define VISIBILITY_ROOT "/apis/" VISIBILITY_GROUP "/" VISIBILITY_VERSION

#endif
