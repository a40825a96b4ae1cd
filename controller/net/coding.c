#include "controller/net/coding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include <zlib.h>

#include "base/instant.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/siphash.h"

#define BLANKS " \t"

/* ---- Which clients take gzip ---- */

/* Reads the weight of an element of Accept-Encoding; 1 without one. */
static double weight_of(const char *element, size_t len)
{
	const char *q = memchr(element, ';', len);
	if (!q)
		return 1;
	q += 1 + strspn(q + 1, BLANKS);
	return strncasecmp(q, "q=", 2) == 0 ? strtod(q + 2, NULL) : 0;
}

static bool names(const char *element, size_t len, const char *coding)
{
	size_t n = strcspn(element, BLANKS ";,");
	return n <= len && n == strlen(coding) && strncasecmp(element, coding, n) == 0;
}

bool coding_takes_gzip(const char *accept)
{
	bool any = false;
	for (const char *at = accept ? accept : ""; *at;) {
		at += strspn(at, BLANKS ",");
		size_t len = strcspn(at, ",");
		if (names(at, len, "gzip"))
			return weight_of(at, len) > 0;
		any |= names(at, len, "*") && weight_of(at, len) > 0;
		at += len;
	}
	return any;
}

/* ---- Tags ---- */

/* Tags of answers have a key, for tenants choose what is in the answers of others, and must not be
 * able to make two of them that have one tag. */
static struct {
	struct siphash_key key;
	bool is_drawn;
} answers;

void coding_draw_key(void)
{
	if (!answers.is_drawn)
		must(getrandom(&answers.key, sizeof(answers.key), 0) == sizeof(answers.key));
	answers.is_drawn = true;
}

/* A hash of pieces, of which each is one more link of a chain. */
struct chain {
	uint64_t link[4]; /* of the pieces before; of this one */
};

static void add(struct chain *c, const char *ptr, size_t len)
{
	siphash128(&answers.key, ptr, len, &c->link[2]);
	siphash128(&answers.key, c->link, sizeof(c->link), &c->link[0]);
}

/* Finds the quote that ends the string which begins behind `at`. */
static size_t end_of_string(struct slice text, size_t at)
{
	while (at < text.len && text.ptr[at] != '"')
		at += text.ptr[at] == '\\' ? 2 : 1;
	return at < text.len ? at : text.len;
}

static bool is_no_news(struct slice name)
{
	static const char *const names[] = {"asOf", "from", "until", "since", "now"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (slice_is(name, names[i]))
			return true;
	return false;
}

/* Hashes all but the times of the head that are no news. The head ends where a list or an object
 * begins. */
static uint64_t hash_of(struct slice text)
{
	struct chain chain = {{0}};
	bool is_time = false; /* the string that comes is the value of such a name */
	size_t from = 0;
	coding_draw_key();
	for (size_t at = 1; at < text.len && text.ptr[at] != '[' && text.ptr[at] != '{'; at++) {
		int64_t ms;
		if (text.ptr[at] != '"') {
			is_time &= text.ptr[at] != ',';
			continue;
		}
		size_t begin = at + 1, end = end_of_string(text, begin);
		const struct slice string = {text.ptr + begin, end - begin};
		at = end;
		if (end + 1 < text.len && text.ptr[end + 1] == ':') {
			is_time = is_no_news(string);
		} else if (is_time && instant_parse(string, &ms)) {
			add(&chain, text.ptr + from, begin - from);
			from = end;
		}
	}
	add(&chain, text.ptr + from, text.len - from);
	return chain.link[0];
}

void coding_tag_number(uint64_t number, char ret[CODING_TAG_SIZE])
{
	snprintf(ret, CODING_TAG_SIZE, "W/\"%016" PRIx64 "\"", number);
}

void coding_tag(struct slice text, char ret[CODING_TAG_SIZE])
{
	static const struct siphash_key none;
	uint64_t hash[2];
	siphash128(&none, text.ptr, text.len, hash);
	coding_tag_number(hash[0], ret);
}

/* The header of a gzip that has a comment, and nothing else. */
enum { GZIP_FLAGS_AT = 3, GZIP_COMMENT = 0x10, GZIP_COMMENT_AT = 10 };

static bool take_comment(struct slice gzip, char ret[CODING_TAG_SIZE])
{
	if (gzip.len < GZIP_COMMENT_AT + CODING_TAG_SIZE || gzip.ptr[GZIP_FLAGS_AT] != GZIP_COMMENT)
		return false;
	const char *comment = gzip.ptr + GZIP_COMMENT_AT;
	if (!memchr(comment, '\0', CODING_TAG_SIZE))
		return false;
	strcpy(ret, comment);
	return true;
}

bool coding_tag_answer(struct slice body, char ret[CODING_TAG_SIZE])
{
	if (coding_is_gzip(body))
		return take_comment(body, ret);
	if (body.len > CODING_TAGGED_BYTES)
		return false;
	coding_tag_number(hash_of(body), ret);
	return true;
}

/* ---- The gzip ---- */

bool coding_is_gzip(struct slice body)
{
	return slice_starts(body, "\x1f\x8b");
}

struct coding_pack {
	struct slice text;
	size_t at;
	z_stream z;
	gz_header head;
	char tag[CODING_TAG_SIZE];
	char *out; /* of the text's length: a longer gzip is not wanted */
	bool is_over, is_whole;
};

struct coding_pack *coding_pack_new(struct slice text, const char *tag)
{
	enum { GZIP_WINDOW = MAX_WBITS + 16, MEMORY = 8, OS_UNKNOWN = 255 };
	struct coding_pack *p = mem_alloc(sizeof(*p));
	p->text = text;
	snprintf(p->tag, sizeof(p->tag), "%s", tag);
	p->out = mem_array(text.len + 1, 1);
	p->z.next_out = (Bytef *)p->out;
	p->z.avail_out = (uInt)text.len;
	p->head = (gz_header){.os = OS_UNKNOWN, .comment = *tag ? (Bytef *)p->tag : NULL};
	p->is_over = deflateInit2(&p->z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY,
			     Z_DEFAULT_STRATEGY) != Z_OK ||
		     deflateSetHeader(&p->z, &p->head) != Z_OK;
	return p;
}

bool coding_pack_step(struct coding_pack *p, size_t bytes)
{
	size_t left = p->text.len - p->at, n = bytes < left ? bytes : left;
	bool is_last = n == left;
	if (p->is_over)
		return false;
	p->z.next_in = (Bytef *)(uintptr_t)(p->text.ptr + p->at);
	p->z.avail_in = (uInt)n;
	p->at += n;
	int rc = deflate(&p->z, is_last ? Z_FINISH : Z_NO_FLUSH);
	p->is_whole = is_last && rc == Z_STREAM_END;
	p->is_over = is_last || p->z.avail_in > 0; /* what is left over has no room */
	return !p->is_over;
}

void coding_pack_end(struct coding_pack *p, struct buf *body)
{
	struct buf packed;
	if (body && p->is_whole) {
		buf_init(&packed, body->ceiling);
		buf_add(&packed, p->out, p->z.total_out);
		buf_done(body);
		*body = packed;
	}
	deflateEnd(&p->z);
	free(p->out);
	free(p);
}

void coding_gzip(struct buf *body)
{
	char tag[CODING_TAG_SIZE];
	if (body->len < CODING_MIN_BYTES || coding_is_gzip(buf_slice(body)))
		return;
	coding_tag_number(hash_of(buf_slice(body)), tag);
	struct coding_pack *p = coding_pack_new(buf_slice(body), tag);
	coding_pack_step(p, body->len);
	coding_pack_end(p, body);
}

/* ---- Which clients have it already ---- */

bool coding_has(const char *if_none_match, const char *tag)
{
	const char *opaque = tag + strlen("W/"); /* the comparison is the weak one */
	return if_none_match &&
	       (strcmp(if_none_match, "*") == 0 || strstr(if_none_match, opaque) != NULL);
}
