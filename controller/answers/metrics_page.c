#include "controller/answers/metrics_page.h"

#include "base/monotonic.h"

enum {
	SHARE = 100, /* of the loop it has one in so many */
	MAX_BYTES = 64 * 1024 * 1024,
};

void metrics_page_init(struct metrics_page *p)
{
	*p = (struct metrics_page){0};
	buf_init(&p->text, MAX_BYTES);
}

void metrics_page_done(struct metrics_page *p)
{
	buf_done(&p->text);
}

void metrics_page_put(struct metrics_page *p, const struct metrics_sources *s, struct buf *out)
{
	int64_t now_us = monotonic_us();
	if (now_us >= p->until_us) {
		buf_reset(&p->text);
		metrics_render(s, &p->text);
		int64_t done_us = monotonic_us();
		p->until_us = done_us + SHARE * (done_us - now_us);
	}
	if (p->text.failed)
		metrics_render(s, out); /* fails as well, and says so */
	else
		buf_add(out, p->text.ptr, p->text.len);
}
