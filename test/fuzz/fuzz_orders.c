/*
 * Any bytes as the orders of a node: orders that keep the promises of orders.h and say the same once
 * they were written and read again, or a sentence that is safe to print.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/json.h"
#include "node/wire.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_asked(struct load l)
{
	must(l.cpu_milli >= 0 && l.memory_bytes >= 0);
}

static void check_pod(const struct orders *o, const struct ordered_pod *p)
{
	must(orders_find(o, &p->uid) == p); /* so no uid stands twice */
	must(p->ncontainers <= ORDERS_CONTAINERS_MAX);
	check_asked(p->asked);
	for (size_t i = 0; i < p->ncontainers; i++) {
		must(strlen(p->containers[i].id) == CONTAINER_ID_SIZE - 1);
		must(strspn(p->containers[i].id, "0123456789abcdef") == CONTAINER_ID_SIZE - 1);
		check_asked(p->containers[i].asked);
	}
}

static void check_orders(const struct orders *o)
{
	must(o->generation > 0 && (o->lends || !o->npods) && o->npods <= ORDERS_PODS_MAX);
	must(o->suppress_percent >= 0 && o->suppress_min_percent >= 0);
	must(o->suppress_rise_percent >= 0 && o->idle <= CPU_IDLE_ALWAYS);
	must(o->hold_percent >= 0 && o->hold_percent <= 100 && o->end_percent <= 100);
	must(o->end_percent == 0 || o->end_percent > o->hold_percent);
	check_asked(o->capacity);
	check_asked(o->reserved);
	for (size_t i = 0; i < o->npods; i++)
		check_pod(o, &o->pods[i]);
}

static void check_again(struct json *j, const struct orders *o)
{
	struct orders *again = NULL;
	struct buf first, second;
	buf_init(&first, 8 << 20);
	buf_init(&second, 8 << 20);
	wire_put_orders(o, &first);
	if (wire_read_orders(j, buf_slice(&first), &again, NULL) == 0) {
		wire_put_orders(again, &second);
		must(slice_eq(buf_slice(&first), buf_slice(&second)));
	} else {
		must(first.len >
			ORDERS_BYTES_MAX); /* escapes are shorter than what they stand for */
	}
	orders_free(again);
	buf_done(&first);
	buf_done(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json *j = json_new(64 << 20);
	struct orders *o = NULL;
	struct err e = {""};
	int rc = wire_read_orders(j, (struct slice){(const char *)data, size}, &o, &e);
	check_outcome(rc == ERR_LIMIT ? ERR_INVALID : rc, o, &e);
	if (o) {
		check_orders(o);
		check_again(j, o);
	}
	orders_free(o);
	json_free(j);
	return 0;
}
