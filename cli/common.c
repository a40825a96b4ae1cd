#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/instant.h"
#include "cli/commands.h"

int command_version(void *options)
{
	(void)options;
	printf("sluice %s\n", SLUICE_VERSION);
	return CLI_OK;
}

int command_fail(int error, const struct err *e)
{
	struct buf text;
	buf_init(&text, 4096);
	/* Line breaks are kept, for our own sentences have them; what a server says has none. */
	text_render_lines(e->text, &text);
	fprintf(stderr, "sluice: %s\n", buf_text(&text));
	buf_done(&text);
	if (error == ERR_GONE)
		return CLI_NOT_FOUND;
	return CLI_UNREACHABLE;
}

/* Counts the screen rows of a line: one that is wider than the terminal goes on below. */
static size_t rows_of(const char *line, size_t len, size_t columns)
{
	size_t width = columns ? text_width(line, len) : 0;
	return width > columns ? (width + columns - 1) / columns : 1;
}

/* Counts the bytes of the first lines of text that fit into so many rows. */
static size_t cut_to(const char *text, size_t rows, size_t columns)
{
	size_t at = 0;
	while (text[at]) {
		size_t len = strcspn(text + at, "\n"), takes = rows_of(text + at, len, columns);
		if (takes > rows)
			break;
		rows -= takes;
		at += len + (text[at + len] == '\n');
	}
	return at;
}

/* What a terminal can show above the cursor; rows SIZE_MAX, columns 0: not known. */
struct screen {
	size_t rows, columns;
};

static struct screen screen_size(void)
{
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row <= 2)
		return (struct screen){SIZE_MAX, 0};
	return (struct screen){size.ws_row - 1U, size.ws_col};
}

void command_print(bool watch, const char *text)
{
	if (!watch || !isatty(STDOUT_FILENO)) {
		fputs(text, stdout);
		return;
	}
	struct screen screen = screen_size();
	const char *end = text + cut_to(text, screen.rows, screen.columns);
	if (*end)
		end = text + cut_to(text, screen.rows - 1, screen.columns);
	fputs("\033[J", stdout); /* clears what is left of the last round */
	fwrite(text, 1, (size_t)(end - text), stdout);
	if (*end)
		printf("(%zu more lines)\n", text_lines(end));
}

int command_end(int rc, const struct buf *out, const struct err *e)
{
	if (rc == 0) {
		fwrite(buf_text(out), 1, out->len, stdout);
		return CLI_OK;
	}
	int code = command_fail(rc, e);
	return rc == ERR_GONE || rc == ERR_BUSY || rc == ERR_DENIED ? code : CLI_USAGE;
}

const char *text_of(const cJSON *object, const char *key)
{
	const char *text = json_text(object, key);
	return text ? text : "";
}

int64_t number_of(const cJSON *object, const char *key)
{
	/* A quota of 9E is beyond what json_i64 takes for exact; for a bar a double is enough. */
	const cJSON *item = json_get(object, key);
	if (!cJSON_IsNumber(item))
		return 0;
	double n = item->valuedouble;
	if (n >= 9.2e18)
		return INT64_MAX;
	return n <= -9.2e18 ? INT64_MIN : (int64_t)n;
}

bool truth_of(const cJSON *object, const char *key)
{
	bool value = false;
	json_bool(object, key, &value);
	return value;
}

bool instant_of(const cJSON *object, const char *key, int64_t *ret_ms)
{
	return instant_parse(slice_of(text_of(object, key)), ret_ms);
}
