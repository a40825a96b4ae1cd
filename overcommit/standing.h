/*
 * Which nodes a flavor stands for: those that have its labels, whose taints it tolerates or names,
 * and on which a new pod may start (Ready, not cordoned, not going). What they lend is what a
 * flavor with an idle pool has to give.
 */
#ifndef SLUICE_OVERCOMMIT_STANDING_H
#define SLUICE_OVERCOMMIT_STANDING_H

#include "overcommit/facts.h"

bool node_stands_in(const struct node_facts *n, const struct node_group *flavor);

#endif
