/*
 * The wire: orders and samples as JSON, both ways. (docs/protocol.md)
 *
 * Both ends are ours, and neither trusts the other: a reader refuses what breaks a promise of
 * orders.h or sample.h, with a sentence that names the member. Members that it does not know are
 * passed over, so that an agent and a controller of two versions understand each other; a member
 * that is new must therefore be one that may be missed.
 *
 * Cpu is thousandths of a core, memory bytes, as whole numbers. What is not there is 0, false, or
 * absent (-1) where a record says so; such members are not written.
 *
 *     {"generation": 18, "lends": true, "limits": true, "suppress": true, "cpu": 96000,
 *      "memory": 404620279808, "reserved_cpu": 2000, "suppress_percent": 65,
 *      "suppress_min_percent": 2, "suppress_rise_percent": 10, "idle": "auto", "hold_percent": 90,
 *      "end_percent": 96, "pods": [{"uid": "4f ...", "cpu": 1500, "memory": 1073741824,
 *      "stays": true, "containers": [{"id": "97bd ...", "cpu": 1000, "memory": 536870912}]}]}
 *
 *     {"boot": "a1 ...", "number": 3, "window_ms": 1000, "cpu": 21000, "memory": 80000000000,
 *      "pods_cpu": 20000, "memory_total": 404620279808, "memory_available": 324000000000,
 *      "may_cpu": 12400, "lacks": ["pressure"], "orders": 18,
 *      "pods": [{"uid": "4f ...", "cpu": 1200, "memory": 900000000, "quota": 1500}],
 *      "deeds": [{"number": 7, "kind": "limited", "uid": "4f ..."}]}
 *
 * Words that a reader does not know are passed over as well: a deed of a new kind is left out.
 */
#ifndef SLUICE_NODE_WIRE_H
#define SLUICE_NODE_WIRE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "node/orders.h"
#include "node/sample.h"

struct json;

enum { WIRE_ORDERS_TREE_BYTES = 16 << 20 }; /* a parse of the longest orders fits into */

/* The ConfigMap in which the leader says where it is. */
#define NODES_CONFIGMAP "sluice-nodes"

/* Append one object. */
void wire_put_orders(const struct orders *o, struct buf *out);
void wire_put_sample(const struct sample *s, struct buf *out);

/* Read one object: 0 and *ret is the caller's, or ERR_INVALID (ERR_LIMIT: too long, too many) with a
 * sentence. j is used for the parse, and empty afterwards. */
int wire_read_orders(struct json *j, struct slice text, struct orders **ret, struct err *e);
int wire_read_sample(struct json *j, struct slice text, struct sample **ret, struct err *e);

#endif
