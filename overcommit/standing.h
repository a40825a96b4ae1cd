/*
 * Which nodes a flavor stands for: those with its labels, whose taints it tolerates or names, and
 * on which a new pod may start (Ready, not cordoned, not being deleted). A flavor with an idle pool
 * has to give what these lend.
 */
#ifndef SLUICE_OVERCOMMIT_STANDING_H
#define SLUICE_OVERCOMMIT_STANDING_H

#include "overcommit/facts.h"

bool node_stands_in(const struct node_facts *n, const struct node_group *flavor);

#endif
