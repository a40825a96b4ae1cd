/*
 * The names under which idle resources are lent (overcommit/publication.h has those we publish),
 * and the older ones that pods may still carry.
 *
 * The legacy protocol of ack-slo-manager: annotation alibabacloud.com/qosClass, and the resources
 * alibabacloud.com/reclaimed-cpu (thousandths of a core) and alibabacloud.com/reclaimed-memory
 * (bytes). Its documents also speak of a bare alibabacloud.com/reclaimed, without a unit: who asks
 * for that lives on lent resources, but how many is not known. Crane itself, other than the seeds,
 * writes gocrane.io: somebody else's pool, so it is lent, and not counted either.
 */
#ifndef SLUICE_WIRE_LENT_H
#define SLUICE_WIRE_LENT_H

#include <stdbool.h>
#include <stdint.h>

#define QOS_LABEL "koordinator.sh/qosClass"
#define LEGACY_QOS "alibabacloud.com/qosClass"
#define LEGACY_CPU "alibabacloud.com/reclaimed-cpu"
#define LEGACY_MEMORY "alibabacloud.com/reclaimed-memory"
#define LEGACY_BARE "alibabacloud.com/reclaimed"

enum lent_family { LENT_BATCH, LENT_GOCRAN, LENT_LEGACY, LENT_OTHER };
enum lent_kind { LENT_CPU, LENT_MEMORY, LENT_UNCOUNTED };

struct lent_name {
	const char *name;
	enum lent_family family;
	enum lent_kind kind;
	int64_t units; /* thousandths of a core, or bytes, that 1 of it is; 0: uncounted */
};

/* NULL: resource is not lent. */
const struct lent_name *lent_name_of(const char *resource);

#endif
