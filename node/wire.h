/*
 * The wire: orders and samples as JSON, both ways. (docs/protocol.md)
 *
 * Both ends are ours, and neither trusts the other: a reader refuses what breaks a promise of
 * orders.h or sample.h, with a sentence that names the member. Members that it does not know are
 * passed over, so that an agent and a controller of two versions understand each other; a member
 * that is new must therefore be one that may be missed.
 *
 * Cpu is thousandths of a core, memory bytes, as whole numbers.
 */
#ifndef SLUICE_NODE_WIRE_H
#define SLUICE_NODE_WIRE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "node/orders.h"
#include "node/sample.h"

struct json;

/* Append one object. */
void wire_put_orders(const struct orders *o, struct buf *out);
void wire_put_sample(const struct sample *s, struct buf *out);

/* Read one object: 0 and *ret is the caller's, or ERR_INVALID (ERR_LIMIT: too long, too many) with a
 * sentence. j is used for the parse, and empty afterwards. */
int wire_read_orders(struct json *j, struct slice text, struct orders **ret, struct err *e);
int wire_read_sample(struct json *j, struct slice text, struct sample **ret, struct err *e);

#endif
