#include "controller/answers/row_digest.h"

#include <ctype.h>
#include <string.h>

#include "base/map.h"
#include "controller/gate/label_set.h"

enum { DIGESTED_MAX_BYTES = 64 << 10 };

#define DIGITS "0123456789"

/* ---- the sentence ---------------------------------------------------------------------------- */

/* The length of "1h03m12s" at the begin of text; 0: it does not begin so. */
static size_t span_len(const char *text)
{
	size_t len = 0, digits;
	while ((digits = strspn(text + len, DIGITS)) > 0 && text[len + digits] &&
		strchr("dhms", text[len + digits]))
		len += digits + 1;
	return digits == 0 ? len : 0;
}

static bool is_like(const char *text, const char *like)
{
	for (; *like; text++, like++)
		if (*like == '0' ? *text < '0' || *text > '9' : *text != *like)
			return false;
	return true;
}

void row_digest_sentence(const char *sentence, struct buf *out)
{
	static const char time[] = "0000-00-00T00:00:00Z", counts[] = "0000-00-00T00:0";
	for (const char *at = sentence; *at;) {
		bool begins = at == sentence || !isalnum((unsigned char)at[-1]);
		size_t span = begins ? span_len(at) : 0;
		if (begins && is_like(at, time)) {
			buf_add(out, at, sizeof(counts) - 1);
			at += sizeof(time) - 1;
		} else if (span > 0) {
			at += span;
		} else {
			buf_putc(out, *at++);
		}
	}
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void add_text(struct buf *out, const char *text)
{
	buf_puts(out, text ? text : "");
	buf_putc(out, '\0');
}

static void add_number(struct buf *out, int64_t number)
{
	buf_add(out, &number, sizeof(number));
}

static void add_listed(struct buf *out, const struct gate_listed *j)
{
	const struct label *label = label_set_labels(j->labels);
	add_text(out, j->state);
	add_text(out, j->submitted_by);
	add_number(out, j->started_ms);
	add_number(out, (int64_t)label_set_count(j->labels));
	for (size_t i = 0; label && i < label_set_count(j->labels); i++) {
		add_text(out, label[i].key);
		add_text(out, label[i].value);
	}
}

static void add_explanation(struct buf *out, const struct explanation *x)
{
	const int64_t numbers[] = {x->reason, x->priority, x->claimed_priority, x->queued_ms,
		x->in_line, (int64_t)x->rank, (int64_t)x->ahead, x->not_before_ms, x->expected_ms,
		x->expected_from, x->deadline_ms, x->unreachable, x->stop_ms};
	buf_add(out, numbers, sizeof(numbers));
	add_text(out, x->localqueue);
	add_text(out, x->clusterqueue);
	row_digest_sentence(x->sentence, out);
}

static void add_asks(struct buf *out, const struct queue *q, const struct uid *uid)
{
	struct resource asks[QUEUE_LINES_MAX];
	int32_t pods = 0;
	size_t n = queue_job_asks(q, uid, &pods, asks);
	add_number(out, n > 0 ? pods : 0);
	for (size_t i = 0; i < n; i++) {
		add_text(out, asks[i].name);
		add_number(out, asks[i].amount);
	}
}

static void add_trouble(struct buf *out, const struct gate *g, const struct gate_listed *j)
{
	struct gate_trouble x;
	if (!gate_job_trouble(g, j->ns, j->name, &x))
		return;
	add_number(out, x.word);
	add_number(out, x.pods);
	add_number(out, x.of);
	add_text(out, x.message);
}

static void add_start(
	struct buf *out, const struct queued_jobs_sources *s, const struct queued_job *j)
{
	struct forecast x;
	add_number(out, queued_job_forecast(s, j, &x) ? x.told_ms : 0);
}

uint64_t row_digest(const struct queued_jobs_sources *s, const struct queued_job *j)
{
	struct buf all;
	buf_init(&all, DIGESTED_MAX_BYTES);
	add_number(&all, s->ledger_up);
	add_listed(&all, &j->listed);
	add_explanation(&all, &j->explanation);
	add_asks(&all, s->queue, &j->listed.uid);
	add_trouble(&all, s->gate, &j->listed);
	add_start(&all, s, j);
	uint64_t digest = map_hash_bytes(all.ptr, all.len);
	buf_done(&all);
	return digest;
}
