/*
 * resource-qos-config, a key of ACK's ConfigMap beside colocation-config: what koordlet does to the
 * cgroups of each class of pods. Of it we read what it says of cpu.idle for best-effort pods
 * (beClass.cpuQOS), since that is the one thing that our agents do as well.
 *
 * The rest is passed over, and said: a sentence for each field that is switched on. Nothing in it
 * refuses a configuration, for nobody who wrote it for koordlet had us in mind.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_QOS_H
#define SLUICE_CONTROLLER_WIRE_DECODE_QOS_H

#include "controller/wire/decode_text.h"
#include "overcommit/strategy.h"

/* Reads the document; NULL says nothing. */
struct qos_config qos_field(struct decoder *d, const cJSON *root);

/* Gives what is said instead of a document that is no JSON object. */
struct qos_config qos_fault(struct decoder *d, const char *why);

#endif
