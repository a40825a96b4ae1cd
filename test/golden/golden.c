#include "test/golden/golden.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

/* All texts that are noted, as the file has them. */
static struct buf all = {.ceiling = 16 << 20};
static uint64_t *seen; /* hashes of what the texts are made of */
static size_t nseen;

static bool is_new(const struct buf *token)
{
	uint64_t hash = map_hash_bytes(token->ptr, token->len);
	for (size_t i = 0; i < nseen; i++)
		if (seen[i] == hash)
			return false;
	seen = mem_grow(seen, nseen + 1, sizeof(*seen));
	seen[nseen++] = hash;
	return true;
}

static size_t string_len(struct slice text)
{
	size_t n = 1;
	while (n < text.len && text.ptr[n] != '"')
		n += text.ptr[n] == '\\' ? 2 : 1;
	return n + 1 < text.len ? n + 1 : text.len;
}

/* A member of JSON is new by its name, the name before it, and the beginning of its value. */
static bool has_new_member(struct slice text)
{
	bool found = false;
	struct slice last = {"", 0};
	struct buf token;
	buf_init(&token, 1 << 20);
	for (size_t i = 0, n; i < text.len; i += n) {
		n = text.ptr[i] == '"' ? string_len((struct slice){text.ptr + i, text.len - i}) : 1;
		if (n == 1 || i + n + 2 >= text.len || text.ptr[i + n] != ':')
			continue;
		char value = text.ptr[i + n + 1];
		buf_reset(&token);
		buf_add(&token, last.ptr, last.len);
		last = (struct slice){text.ptr + i, n};
		buf_add(&token, last.ptr, last.len);
		buf_putc(&token, value >= '0' && value <= '9' ? '0' : value);
		if (value == '[' || value == '{')
			buf_putc(&token, text.ptr[i + n + 2]);
		found |= is_new(&token);
	}
	buf_done(&token);
	return found;
}

/* A line is new by all but its numbers and what it has in quotes. */
static bool has_new_line(struct slice text)
{
	bool found = false;
	struct buf token;
	buf_init(&token, 1 << 20);
	for (size_t i = 0, n; i < text.len; i += n) {
		n = text.ptr[i] == '"' ? string_len((struct slice){text.ptr + i, text.len - i}) : 1;
		if (text.ptr[i] == '\n') {
			found |= token.len > 0 && is_new(&token);
			buf_reset(&token);
		} else if (n == 1 && !strchr("-.0123456789", text.ptr[i])) {
			buf_putc(&token, text.ptr[i]);
		}
	}
	buf_done(&token);
	return found;
}

static bool is_json(struct slice text)
{
	return text.ptr[0] == '{' || text.ptr[0] == '[';
}

/* The length of a number that is of this process and this moment, at the beginning of a line of metrics. */
static size_t passing_len(struct slice line, size_t *ret_name)
{
	static const char *const names[] = {
		"process_resident_memory_bytes ", "process_cpu_seconds_total "};
	for (size_t i = 0; i < 2; i++) {
		*ret_name = strlen(names[i]);
		if (line.len > *ret_name && memcmp(line.ptr, names[i], *ret_name) == 0)
			return strspn(line.ptr + *ret_name, "0123456789.");
	}
	return *ret_name = 0;
}

enum { WHOLE_MAX_BYTES = 128 << 10, SHOWN_BYTES = 4 << 10 };

/* Appends the text without the version of this build and what is of this moment. */
static void put_text(struct slice text)
{
	bool breaks = is_json(text), in_string = false;
	size_t version = strlen(SLUICE_VERSION);
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		size_t name, passing = 0;
		if (i == 0 || text.ptr[i - 1] == '\n')
			passing = passing_len((struct slice){text.ptr + i, text.len - i}, &name);
		if (passing > 0) {
			buf_add(&all, text.ptr + i, name);
			buf_puts(&all, "N");
			i += name + passing - 1;
			continue;
		}
		if (text.len - i >= version && memcmp(text.ptr + i, SLUICE_VERSION, version) == 0) {
			buf_puts(&all, "VERSION");
			i += version - 1;
			continue;
		}
		buf_putc(&all, c);
		if (in_string && c == '\\' && i + 1 < text.len)
			buf_putc(&all, text.ptr[++i]);
		else if (c == '"')
			in_string = !in_string;
		else if (breaks && !in_string && c == ',')
			buf_putc(&all, '\n');
	}
}

void golden_add(const char *test, const char *about, struct slice text)
{
	if (text.len == 0 || !(is_json(text) ? has_new_member(text) : has_new_line(text)))
		return;
	buf_printf(&all, "==== %s%s%s\n", test, *about ? ": " : "", about);
	if (text.len > WHOLE_MAX_BYTES) {
		put_text((struct slice){text.ptr, SHOWN_BYTES});
		buf_printf(&all, "\n(%zu bytes in all, of the hash %016" PRIx64 ")\n", text.len,
			map_hash_bytes(text.ptr, text.len));
		return;
	}
	put_text(text);
	if (text.ptr[text.len - 1] != '\n')
		buf_puts(&all, "\n(no newline at its end)\n");
}

static void path_of(const char *name, const char *end, char ret[1024])
{
	if (strncmp(name, "test_", 5) == 0)
		name += 5;
	snprintf(ret, 1024, "%s/%s.%s", GOLDEN_DIR, name, end);
}

static void write_file(const char *path)
{
	FILE *f = fopen(path, "w");
	bool written = f && fwrite(buf_text(&all), 1, all.len, f) == all.len;
	if ((f && fclose(f) != 0) || !written)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
}

static void read_file(const char *path, struct buf *ret)
{
	char part[65536];
	FILE *f = fopen(path, "r");
	for (size_t n; f && (n = fread(part, 1, sizeof(part), f)) > 0;)
		buf_add(ret, part, n);
	if (f)
		fclose(f);
}

/* Prints the first line that differs, and how to go on. */
static void say_difference(const char *path, const struct buf *committed)
{
	const char *old = buf_text(committed), *new = buf_text(&all);
	size_t same = 0, line = 1, begin = 0;
	for (; old[same] && old[same] == new[same]; same++)
		if (old[same] == '\n') {
			line++;
			begin = same + 1;
		}
	fprintf(stderr, "%s:%zu differs:\n- %.*s\n+ %.*s\n", path, line,
		(int)strcspn(old + begin, "\n"), old + begin, (int)strcspn(new + begin, "\n"),
		new + begin);
	fprintf(stderr,
		"if that is meant: SLUICE_GOLDEN=renew ctest -L golden, and read the diff\n");
}

int golden_close(void **state)
{
	(void)state;
	char path[1024];
	struct buf committed;
	const char *mode = getenv("SLUICE_GOLDEN");
	path_of(program_invocation_short_name, "txt", path);
	buf_init(&committed, 32 << 20);
	if (mode && strcmp(mode, "renew") == 0)
		write_file(path);
	read_file(path, &committed);
	bool same = committed.len == all.len &&
		    memcmp(buf_text(&committed), buf_text(&all), all.len) == 0;
	if (!same)
		say_difference(path, &committed);
	buf_done(&committed);
	buf_done(&all);
	free(seen);
	if (!same)
		exit(1); /* a group teardown that fails does not fail the program */
	return 0;
}
