#include "controller/answers/watch_rows.h"

#include "base/must.h"

/* The head of a row, before its texts. */
struct row_head {
	struct uid uid;
	uint64_t digest;
	int64_t created_ms;
	uint16_t ns, name, localqueue; /* lengths in bytes */
	uint16_t unused[1];
};

struct order_head {
	uint64_t version;
	uint64_t event;
};

static const char *take(struct slice *from, size_t len)
{
	const char *at = from->ptr;
	must(len <= from->len);
	from->ptr += len;
	from->len -= len;
	return at;
}

void watch_row_put(struct buf *out, const struct watch_row *r)
{
	struct row_head h = {.uid = r->uid,
		.digest = r->digest,
		.created_ms = r->created_ms,
		.ns = (uint16_t)r->ns.len,
		.name = (uint16_t)r->name.len,
		.localqueue = (uint16_t)r->localqueue.len};
	must(r->ns.len + r->name.len + r->localqueue.len <= UINT16_MAX);
	buf_add(out, &h, sizeof(h));
	buf_add(out, r->ns.ptr, r->ns.len);
	buf_add(out, r->name.ptr, r->name.len);
	buf_add(out, r->localqueue.ptr, r->localqueue.len);
}

bool watch_row_take(struct slice *rows, struct watch_row *ret)
{
	struct row_head h;
	if (rows->len == 0)
		return false;
	memcpy(&h, take(rows, sizeof(h)), sizeof(h));
	*ret = (struct watch_row){.uid = h.uid, .digest = h.digest, .created_ms = h.created_ms};
	ret->ns = (struct slice){take(rows, h.ns), h.ns};
	ret->name = (struct slice){take(rows, h.name), h.name};
	ret->localqueue = (struct slice){take(rows, h.localqueue), h.localqueue};
	return true;
}

static int slice_cmp(struct slice a, struct slice b)
{
	size_t least = a.len < b.len ? a.len : b.len;
	int order = memcmp(a.ptr, b.ptr, least);
	return order ? order : a.len < b.len ? -1 : a.len > b.len;
}

static int row_cmp(const struct watch_row *a, const struct watch_row *b)
{
	int order = slice_cmp(a->ns, b->ns);
	return order ? order : slice_cmp(a->name, b->name);
}

bool watch_rows_differ(
	struct slice *known, struct slice *now, enum watch_event *ret_event, struct watch_row *ret)
{
	for (;;) {
		struct slice after_known = *known, after_now = *now;
		struct watch_row old, new;
		bool has_old = watch_row_take(&after_known, &old);
		bool has_new = watch_row_take(&after_now, &new);
		if (!has_old && !has_new)
			return false;
		int order = !has_old ? 1 : !has_new ? -1 : row_cmp(&old, &new);
		if (order < 0 || (order == 0 && uid_cmp(&old.uid, &new.uid) != 0)) {
			*known = after_known;
			*ret_event = WATCH_DELETED;
			*ret = old;
			return true;
		}
		*now = after_now;
		if (order == 0)
			*known = after_known;
		*ret_event = order ? WATCH_ADDED : WATCH_MODIFIED;
		*ret = new;
		if (order > 0 || old.digest != new.digest)
			return true;
	}
}

void watch_order_put(struct buf *out, const struct watch_order *o)
{
	struct order_head h = {o->version, o->event};
	buf_add(out, &h, sizeof(h));
	watch_row_put(out, &o->row);
}

bool watch_order_take(struct slice *orders, struct watch_order *ret)
{
	struct order_head h;
	if (orders->len == 0)
		return false;
	memcpy(&h, take(orders, sizeof(h)), sizeof(h));
	must(h.event <= WATCH_DELETED);
	ret->version = h.version;
	ret->event = (enum watch_event)h.event;
	must(watch_row_take(orders, &ret->row));
	return true;
}
