#include "controller/gate/story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "base/json.h"

/* Bytes for the fields around the flavors; the flavors may take the rest of STORY_TEXT_MAX. */
#define STORY_TAIL_MAX 2048
#define HOLDS_TREE_MAX (1 << 20) /* of a story that is read */
#define NODE "cq/"
static const char MAC[] = ",\"mac\":\"";

const char *story_state_name(enum story_state s)
{
	switch (s) {
	case STORY_NONE:
		return "";
	case STORY_STARTED:
		return "Started";
	case STORY_STOPPED:
		return "Stopped";
	case STORY_FENCED:
		return "Fenced";
	}
	return "";
}

/* Tells whether an earlier line has the resource: there may be one for each level of the quota
 * tree. */
static bool told_before(const struct story *s, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(s->lines[k].resource, s->lines[i].resource) == 0)
			return true;
	return false;
}

static size_t line_bytes(const struct quota_line *l)
{
	return 2 * strlen(l->resource) + strlen(l->flavor) + 32;
}

/* Appends the flavors that fit in STORY_TEXT_MAX, and how many do not. */
static size_t format_flavors(const struct story *s, struct buf *out)
{
	size_t bytes = 0, told = 0, left_out = 0;
	buf_puts(out, ",\"flavors\":{");
	for (size_t i = 0; i < s->nlines; i++) {
		const struct quota_line *l = &s->lines[i];
		if (told_before(s, i))
			continue;
		if (bytes + line_bytes(l) > STORY_TEXT_MAX - STORY_TAIL_MAX) {
			left_out++;
			continue;
		}
		bytes += line_bytes(l);
		buf_puts(out, told++ ? "," : "");
		buf_json_string(out, l->resource);
		buf_putc(out, ':');
		buf_json_string(out, l->flavor);
	}
	buf_putc(out, '}');
	if (left_out > 0)
		buf_printf(out, ",\"flavorsLeftOut\":%zu", left_out);
	return left_out;
}

/* Tells whether all lines are of the story's ClusterQueue, one for each resource. */
static bool holds_can_tell(const struct story *s)
{
	for (size_t i = 0; i < s->nlines; i++)
		if (strncmp(s->lines[i].node, NODE, strlen(NODE)) != 0 || !s->clusterqueue ||
			strcmp(s->lines[i].node + strlen(NODE), s->clusterqueue) != 0 ||
			told_before(s, i))
			return false;
	return true;
}

static void format_holds(const struct story *s, struct buf *out)
{
	buf_puts(out, ",\"holds\":{");
	for (size_t i = 0; i < s->nlines; i++) {
		buf_puts(out, i ? "," : "");
		buf_json_string(out, s->lines[i].resource);
		buf_printf(out, ":%lld", (long long)s->lines[i].amount);
	}
	buf_putc(out, '}');
	if (s->sizes > 0)
		buf_printf(out, ",\"sizes\":%d", (int)s->sizes);
}

static void format_priority(const struct story *s, struct buf *out)
{
	if (s->has_priority)
		buf_printf(out, ",\"priority\":%d", (int)s->priority);
}

static void format_owner(const struct story *s, struct buf *out)
{
	if (s->pods <= 0)
		return;
	buf_printf(out, ",\"pods\":%d", (int)s->pods);
	if (s->owner_parallelism > 0)
		buf_printf(out, ",\"parallelism\":%d", (int)s->owner_parallelism);
	if (s->owner_completions > 0)
		buf_printf(out, ",\"completions\":%d", (int)s->owner_completions);
}

static bool has_history(const struct job_history *h)
{
	return h->requeues || h->ran_ms || h->not_before_ms || h->evicted_ms || h->suspensions ||
	       h->reclaims_paid_ms;
}

/* Appends times in milliseconds: fractions of a time of queueing matter for the order. */
static void format_history(const struct job_history *h, struct buf *out)
{
	if (!has_history(h))
		return;
	buf_printf(out,
		",\"history\":{\"requeues\":%d,\"ranMs\":%lld,\"notBeforeMs\":%lld,"
		"\"evictedMs\":%lld",
		(int)h->requeues, (long long)h->ran_ms, (long long)h->not_before_ms,
		(long long)h->evicted_ms);
	if (h->suspensions > 0)
		buf_printf(out, ",\"suspensions\":%d", (int)h->suspensions);
	if (h->reclaims_paid_ms > 0)
		buf_printf(out, ",\"reclaimsPaidMs\":%lld", (long long)h->reclaims_paid_ms);
	buf_putc(out, '}');
}

/* Appends what counts against limits: a back-off and a place in the order can be lost. */
static void format_counts(const struct job_history *h, struct buf *out)
{
	struct buf b;
	buf_init(&b, 256);
	if (h->requeues > 0)
		buf_printf(&b, ",\"requeues\":%d", (int)h->requeues);
	if (h->ran_ms > 0)
		buf_printf(&b, ",\"ranMs\":%lld", (long long)h->ran_ms);
	if (h->suspensions > 0)
		buf_printf(&b, ",\"suspensions\":%d", (int)h->suspensions);
	if (b.len > 0)
		buf_printf(out, ",\"history\":{%s}", buf_text(&b) + 1);
	buf_done(&b);
}

static void format_text(const char *key, const char *text, struct buf *out)
{
	if (!text || !*text)
		return;
	buf_printf(out, ",\"%s\":", key);
	buf_json_string(out, text);
}

enum detail {
	WHOLE,
	PLAIN,	  /* without sentences */
	UNRANKED, /* without its priority */
	SHORT,	  /* without what the ledger knows as well */
	COUNTS,	  /* with the counts of the history alone */
	SHORTEST, /* without history */
};

static void format_head(const struct story *s, struct buf *out)
{
	buf_printf(out, "{\"attempt\":%d,\"state\":", (int)s->attempt);
	buf_json_string(out, story_state_name(s->state));
	buf_printf(out, ",\"epoch\":%lld,\"at\":\"%s\"", (long long)s->epoch,
		instant_seconds(s->at_ms).s);
}

/* Appends what follows the head. True: that tells all that the run holds. */
static bool format_body(const struct story *s, enum detail d, struct buf *out)
{
	buf_puts(out, ",\"clusterQueue\":");
	buf_json_string(out, s->clusterqueue ? s->clusterqueue : "");
	bool whole = format_flavors(s, out) == 0 && holds_can_tell(s);
	if (s->is_signed && whole)
		format_holds(s, out);
	if (s->is_signed && whole && d < UNRANKED)
		format_priority(s, out);
	buf_puts(out, ",\"reason\":");
	buf_json_string(out, s->reason ? s->reason : "");
	buf_puts(out, ",\"by\":");
	buf_json_string(out, s->by ? s->by : "");
	return whole;
}

static void mac_of(const char *text, size_t len, const struct uid *uid,
	const struct siphash_key *key, char ret[33])
{
	uint64_t mac[2];
	char *signs = mem_alloc(sizeof(*uid) + len);
	memcpy(signs, uid, sizeof(*uid));
	memcpy(signs + sizeof(*uid), text, len);
	siphash128(key, signs, sizeof(*uid) + len, mac);
	free(signs);
	snprintf(ret, 33, "%016llx%016llx", (unsigned long long)mac[0], (unsigned long long)mac[1]);
}

/* Appends the signature of all that stands before it. */
static void format_mac(const struct story *s, size_t start, struct buf *out)
{
	char mac[33];
	if (out->failed)
		return;
	mac_of(buf_text(out) + start, out->len - start, &s->uid, &s->key, mac);
	buf_printf(out, "%s%s\"", MAC, mac);
}

static void format_in(const struct story *s, enum detail d, struct buf *out)
{
	size_t start = out->len;
	bool whole = false;
	format_head(s, out);
	if (d <= UNRANKED)
		whole = format_body(s, d, out);
	else if (d == SHORT)
		format_text("reason", s->reason, out);
	format_text("retold", s->retold, out);
	if (d == WHOLE) {
		format_text("preemptor", s->preemptor, out);
		format_text("message", s->message, out);
		format_text("trouble", s->trouble, out);
	}
	format_owner(s, out);
	if (d < COUNTS)
		format_history(&s->history, out);
	else if (d == COUNTS)
		format_counts(&s->history, out);
	if (whole && s->is_signed)
		format_mac(s, start, out);
	buf_putc(out, '}');
}

void story_fit(const struct story *s, size_t max, struct buf *out)
{
	struct buf b;
	buf_init(&b, STORY_TEXT_MAX);
	for (enum detail d = WHOLE; d <= SHORTEST; d++) {
		buf_reset(&b);
		format_in(s, d, &b);
		if (!b.failed && (max == 0 || b.len <= max))
			break;
	}
	buf_puts(out, buf_text(&b));
	out->failed = out->failed || b.failed;
	buf_done(&b);
}

/* ---- reading ---------------------------------------------------------------------------------- */

struct story_reader {
	struct json *json;
	char node[300]; /* of the lines */
};

struct story_reader *story_reader_new(void)
{
	struct story_reader *r = mem_alloc(sizeof(*r));
	r->json = json_new(HOLDS_TREE_MAX);
	return r;
}

void story_reader_free(struct story_reader *r)
{
	if (r)
		json_free(r->json);
	free(r);
}

static bool has_mac(const char *text, const struct uid *uid, const struct siphash_key *key)
{
	size_t len = strlen(text), tail = strlen(MAC) + 32 + strlen("\"}");
	char mac[33];
	if (len <= tail || len > STORY_TEXT_MAX ||
		strncmp(text + len - tail, MAC, strlen(MAC)) != 0)
		return false;
	mac_of(text, len - tail, uid, key, mac);
	return strncmp(text + len - tail + strlen(MAC), mac, 32) == 0;
}

static bool read_before(const struct story_run *run, const char *resource)
{
	for (size_t i = 0; i < run->nlines; i++)
		if (strcmp(run->lines[i].resource, resource) == 0)
			return true;
	return false;
}

/* Reads the lines, within limits: another version of ours may have written them. */
static bool read_lines(struct story_reader *r, const cJSON *root, struct story_run *ret)
{
	const cJSON *flavors = json_object(root, "flavors"), *holds = json_object(root, "holds");
	ret->nlines = 0;
	if (!flavors || !holds)
		return false;
	json_each(hold, holds) {
		const char *flavor = json_text(flavors, hold->string);
		struct quota_line line = {.node = r->node, .flavor = flavor};
		if (!flavor || ret->nlines == QUEUE_LINES_MAX || read_before(ret, hold->string) ||
			json_i64(holds, hold->string, &line.amount) < 0 || line.amount < 0)
			return false;
		line.resource = hold->string;
		ret->lines[ret->nlines++] = line;
	}
	return true;
}

static bool read_state(const char *name, enum story_state *ret)
{
	*ret = name && strcmp(name, story_state_name(STORY_STARTED)) == 0 ? STORY_STARTED
									  : STORY_STOPPED;
	return name && strcmp(name, story_state_name(*ret)) == 0;
}

static void read_priority(const cJSON *root, struct story_run *ret)
{
	int64_t n;
	ret->has_priority = json_i64(root, "priority", &n) == 0 && n >= INT32_MIN && n <= INT32_MAX;
	ret->priority = ret->has_priority ? (int32_t)n : 0;
}

/* Reads a count; 0 when absent. */
static int32_t count_of(const cJSON *root, const char *key)
{
	int64_t n;
	return json_i64(root, key, &n) < 0 || n < 0 || n > INT32_MAX ? 0 : (int32_t)n;
}

bool story_read_run(struct story_reader *r, const char *text, const struct uid *uid,
	const struct siphash_key *key, struct story_run *ret)
{
	const cJSON *root;
	int64_t attempt;
	if (!text || !has_mac(text, uid, key) ||
		json_parse(r->json, slice_of(text), &root, NULL) < 0)
		return false;
	const char *at = json_text(root, "at");
	ret->clusterqueue = json_text(root, "clusterQueue");
	if (!read_state(json_text(root, "state"), &ret->state) || !at || !ret->clusterqueue ||
		!instant_parse(slice_of(at), &ret->at_ms) ||
		json_i64(root, "epoch", &ret->epoch) < 0 || ret->epoch < 0 ||
		json_i64(root, "attempt", &attempt) < 0 || attempt < 1 || attempt > INT32_MAX)
		return false;
	ret->attempt = (int32_t)attempt;
	ret->sizes = count_of(root, "sizes");
	ret->pods = count_of(root, "pods");
	read_priority(root, ret);
	int n = snprintf(r->node, sizeof(r->node), NODE "%s", ret->clusterqueue);
	return n > 0 && (size_t)n < sizeof(r->node) && read_lines(r, root, ret);
}

bool story_read_words(struct story_reader *r, const char *text, const struct uid *uid,
	const struct siphash_key *key, struct story_words *ret)
{
	const cJSON *root;
	if (!text || !has_mac(text, uid, key) ||
		json_parse(r->json, slice_of(text), &root, NULL) < 0)
		return false;
	ret->reason = json_text(root, "reason");
	ret->message = json_text(root, "message");
	return true;
}
