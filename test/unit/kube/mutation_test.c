/*
 * Real Jobs, mutated, among healthy ones: in events, as lines and in pages. What must hold, and is
 * broken belief where it does not: test/fuzz/follow.h. The same mutations each time.
 *
 *	test_kube_mutation [FIRST [LAST]]   these alone, to look at one
 */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/must.h"
#include "test/fuzz/follow.h"

enum { MUTATIONS = 4000, SEEDS_MAX = 64, VICTIM_MAX = 1 << 20 };

static struct buf seed[SEEDS_MAX];
static size_t nseeds;

static void load(const char *folder, const char *name)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = fopen(path, "rb");
	must(f && nseeds < SEEDS_MAX);
	struct buf *b = &seed[nseeds++];
	buf_init(b, VICTIM_MAX);
	for (int c; (c = fgetc(f)) != EOF;)
		if (c != '\n')
			buf_putc(b, (char)c);
	fclose(f);
}

static void load_all(const char *folder)
{
	struct dirent **names;
	int n = scandir(folder, &names, NULL, alphasort);
	must(n > 0);
	for (int i = 0; i < n; i++) {
		if (names[i]->d_name[0] != '.')
			load(folder, names[i]->d_name);
		free(names[i]);
	}
	free(names);
}

static uint64_t draw(uint64_t *state, uint64_t below)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % below;
}

/* What is in b from..to becomes the text. */
static void replace(struct buf *b, size_t from, size_t to, const char *text, size_t len)
{
	struct buf next;
	buf_init(&next, VICTIM_MAX);
	buf_add(&next, b->ptr, from);
	buf_add(&next, text, len);
	buf_add(&next, b->ptr + to, b->len - to);
	must(!next.failed);
	buf_done(b);
	*b = next;
}

static void insert_many(struct buf *b, size_t at, const char *text, size_t times)
{
	struct buf many;
	buf_init(&many, VICTIM_MAX);
	for (size_t i = 0; i < times; i++)
		buf_puts(&many, text);
	replace(b, at, at, many.ptr, many.len);
	buf_done(&many);
}

static void insert_token(struct buf *b, size_t at, uint64_t *random)
{
	static const char *const tokens[] = {"\"", "\\", "{", "}", "[", "]", ",", ":", "\\u0000",
		"\\ud83d", "\xff", "\xc3", "\x01", "null", "1e999", "-", "{\"a\":", "\"a\":", "}}",
		"]}", "},{", "\"},{\"", "\\\"", "\r", "\t", "\xef\xbb\xbf"};
	const char *token = tokens[draw(random, sizeof(tokens) / sizeof(tokens[0]))];
	replace(b, at, at, token, strlen(token));
}

static void mutate(struct buf *b, uint64_t *random)
{
	size_t at = draw(random, b->len + 1), to = at + draw(random, b->len - at + 1);
	const struct buf *other = &seed[draw(random, nseeds)];
	char byte = (char)draw(random, 256);
	switch (draw(random, 9)) {
	case 0:
		replace(b, at, at < b->len ? at + 1 : at, byte == '\n' ? "\0" : &byte, 1);
		break;
	case 1:
	case 2:
		insert_token(b, at, random);
		break;
	case 3:
		replace(b, at, to, "", 0);
		break;
	case 4:
		replace(b, at, b->len, "", 0);
		break;
	case 5:
		insert_many(b, at, draw(random, 2) ? "[" : "{\"a\":", 200);
		break;
	case 6:
		insert_many(b, at, "xxxxxxxxxxxxxxxx", 1100); /* over FOLLOW_CEILING */
		break;
	case 7:
		replace(b, at, to, other->ptr, other->len);
		break;
	default:
		insert_many(b, at, "[[],1],", draw(random, 300));
		break;
	}
}

static void play(uint64_t number)
{
	static const size_t chunks[] = {1, 2, 3, 7, 16, 61, 128, 1000, 4096, 16 * 1024};
	uint64_t random = number;
	struct buf victim;
	buf_init(&victim, VICTIM_MAX);
	const struct buf *from = &seed[draw(&random, nseeds)];
	buf_add(&victim, from->ptr, from->len);
	for (uint64_t n = draw(&random, 4); n-- > 0 || number % 16 == 0;) {
		mutate(&victim, &random);
		if (number % 16 == 0)
			break;
	}
	size_t chunk = chunks[number % (sizeof(chunks) / sizeof(chunks[0]))];
	follow_stream(buf_slice(&victim), chunk);
	follow_pages(buf_slice(&victim));
	for (uint64_t n = draw(&random, 3); n-- > 0;) {
		size_t at = draw(&random, victim.len + 1);
		replace(&victim, at, at, "\n", 1);
	}
	follow_line(buf_slice(&victim), chunk);
	buf_done(&victim);
}

static char under_way[64];

static void tell_which(int signal_number)
{
	(void)signal_number;
	if (write(STDERR_FILENO, under_way, strlen(under_way)) < 0)
		_exit(2);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t last = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? first : MUTATIONS - 1;
	signal(SIGABRT, tell_which);
	load_all(CORPUS "/job");
	load_all(CORPUS "/follow");
	for (uint64_t number = first; number <= last; number++) {
		snprintf(under_way, sizeof(under_way), "mutation %llu\n",
			(unsigned long long)number);
		play(number);
	}
	for (size_t i = 0; i < nseeds; i++)
		buf_done(&seed[i]);
	return 0;
}
