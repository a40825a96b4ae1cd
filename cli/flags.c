#include "cli/flags.h"

#include <getopt.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"

/* getopt_long() returns FIRST + the index in the table, and behind the table's own its others. */
enum { FLAGS_MAX = 64, FIRST = 256, WORD = 1 };

/* ---- what several commands know -------------------------------------------------------------- */

int flag_text(const char *text, void *to, struct err *e)
{
	(void)e;
	*(const char **)to = text;
	return 0;
}

int flag_given(const char *text, void *to, struct err *e)
{
	(void)text;
	(void)e;
	*(bool *)to = true;
	return 0;
}

int flag_namespace(const char *text, void *to, struct err *e)
{
	*(const char **)to = text;
	return flag_check_namespace("--namespace", text, e);
}

int flag_json(const char *text, void *to, struct err *e)
{
	(void)e;
	*(bool *)to = strcmp(text, "json") == 0;
	return 0;
}

int flag_file(const char *text, void *to, struct err *e)
{
	struct flag_files *files = to;
	size_t max = sizeof(files->path) / sizeof(*files->path);
	if (files->count == max)
		return err_set(e, ERR_LIMIT, "more than %zu files; join them", max);
	files->path[files->count++] = text;
	return 0;
}

int flag_overcommit_config(const char *text, void *to, struct err *e)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-/";
	const char *slash = strchr(text, '/');
	*(const char **)to = text;
	if (!*text || (slash && slash != text && slash[1] && !strchr(slash + 1, '/') &&
			      strspn(text, allowed) == strlen(text)))
		return 0;
	return err_set(e, ERR_INVALID,
		"--overcommit-config is \"%.100s\"; write NAMESPACE/NAME, or \"\" for none", text);
}

/* Letters and digits, with dashes between them. Returns its length; 0: it is none. */
static size_t label_length(const char *text)
{
	static const char inside[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t len = strspn(text, inside);
	return len > 0 && text[0] != '-' && text[len - 1] != '-' ? len : 0;
}

static int refuse_name(const char *flag, const char *text, struct err *e)
{
	return err_set(e, ERR_INVALID, "%s is \"%.80s\", which is not the name of one", flag, text);
}

int flag_check_namespace(const char *flag, const char *text, struct err *e)
{
	size_t len = label_length(text);
	return len > 0 && len <= 63 && !text[len] ? 0 : refuse_name(flag, text, e);
}

int flag_check_name(const char *flag, const char *text, struct err *e)
{
	size_t len = label_length(text), end = len;
	while (len > 0 && text[end] == '.') {
		len = label_length(text + end + 1);
		end += 1 + len;
	}
	return len > 0 && end <= 253 && !text[end] ? 0 : refuse_name(flag, text, e);
}

const char *flag_job_name(char *const *word, size_t nwords)
{
	static const char *const kinds[] = {"job", "jobs", "job.batch", "jobs.batch"};
	const char *slash = nwords > 0 ? strchr(word[0], '/') : NULL;
	size_t len = slash ? (size_t)(slash - word[0]) : nwords > 0 ? strlen(word[0]) : 0;
	bool is_kind = false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		is_kind |= strlen(kinds[i]) == len && strncmp(word[0], kinds[i], len) == 0;
	if (nwords == 1 && slash)
		return is_kind && slash[1] && !strchr(slash + 1, '/') ? slash + 1 : NULL;
	if (nwords == 2 && !slash && is_kind)
		return word[1];
	return nwords == 1 && word[0][0] ? word[0] : NULL;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static int wrong_flag(int argc, char **argv, int got, struct err *e)
{
	const char *arg = optind > 0 && optind <= argc ? argv[optind - 1] : "?";
	if (got == ':')
		return err_set(e, ERR_INVALID, "%.80s wants a value", arg);
	if (optopt > 0 && optopt < FIRST)
		return err_set(e, ERR_INVALID, "-%c is not a flag", optopt);
	if (optopt >= FIRST)
		return err_set(e, ERR_INVALID, "%.80s: this flag takes no value", arg);
	return err_set(e, ERR_INVALID, "%.80s is not a flag, or short for more than one", arg);
}

/* As getopt_long() wants it told: letters are short for the long flag that has them. */
static void list_flags(const struct flag_table *t, struct option longs[FLAGS_MAX + 1],
	char shorts[2 * FLAGS_MAX + 3])
{
	size_t n = 0;
	bool wants = false;
	if (t->take_word)
		*shorts++ = '-';
	*shorts++ = ':';
	for (const struct flag *f = t->flag; f < t->flag + t->count; f++) {
		must(n < FLAGS_MAX);
		longs[n] = (struct option){
			f->name, f->alone ? no_argument : required_argument, NULL, FIRST + (int)n};
		n++;
		if (f->letter)
			*shorts++ = f->letter;
		if (f->letter && !f->alone)
			*shorts++ = ':';
	}
	for (const char *name; t->other && (name = t->other(n - t->count, &wants)); n++) {
		must(n < FLAGS_MAX);
		longs[n] = (struct option){name, wants, NULL, FIRST + (int)n};
	}
	longs[n] = (struct option){0};
	*shorts = '\0';
}

static const struct flag *find(const struct flag *flags, int got)
{
	if (got >= FIRST)
		return &flags[got - FIRST];
	while (flags->letter != got)
		flags++;
	return flags;
}

/* "table|wide|json": "table, wide or json" */
static void put_choices(const char *choices, struct buf *out)
{
	for (const char *p = choices; *p; p++) {
		if (*p != '|')
			buf_putc(out, *p);
		else
			buf_puts(out, strchr(p + 1, '|') ? ", " : " or ");
	}
}

static int check_choice(const struct flag *f, const char *text, struct err *e)
{
	const char *v = f->value;
	if (!v || !strchr(v, '|') || strstr(v, "|...") || flag_choice(v, text) >= 0)
		return 0;
	struct buf all;
	buf_init(&all, 1024);
	put_choices(v, &all);
	const char letter[] = {'-', f->letter, '\0'};
	int rc = err_set(e, ERR_INVALID, "%s%s is \"%.60s\"; it must be %s",
		f->letter ? letter : "--", f->letter ? "" : f->name, text, buf_text(&all));
	buf_done(&all);
	return rc;
}

static int take(const struct flag_table *t, int got, void *options, struct err *e)
{
	if (got == WORD)
		return t->take_word(optarg, options, e);
	if (got >= FIRST + (int)t->count)
		return t->take_other(options, (size_t)(got - FIRST) - t->count, optarg, e);
	const struct flag *f = find(t->flag, got);
	int rc = check_choice(f, optarg, e);
	return rc < 0 ? rc : f->take(optarg, (char *)options + f->to, e);
}

int flag_choice(const char *choices, const char *text)
{
	size_t len = strlen(text);
	for (int i = 0;; i++) {
		size_t n = strcspn(choices, "|");
		if (n == len && memcmp(choices, text, n) == 0)
			return i;
		if (!choices[n])
			return -1;
		choices += n + 1;
	}
}

int flags_walk(
	int argc, char **argv, int skip, const struct flag_table *t, void *options, struct err *e)
{
	struct option longs[FLAGS_MAX + 1];
	char shorts[2 * FLAGS_MAX + 3];
	int rc = 0, lead = skip > 0 ? skip - 1 : 0; /* getopt_long() skips one itself */
	list_flags(t, longs, shorts);
	argc -= lead;
	argv += lead;
	/* glibc: forget an earlier walk. After "-yw" with an unknown y it would go on with the w, in words
	 * that may be gone. */
	optind = 0;
	opterr = 0;
	for (int got; rc == 0 && (got = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
		if (got == ':' || got == '?')
			return wrong_flag(argc, argv, got, e);
		rc = take(t, got, options, e);
	}
	for (; rc == 0 && t->take_word && optind < argc; optind++) /* behind "--" */
		rc = t->take_word(argv[optind], options, e);
	optind += lead;
	return rc;
}

int flags_last_word(int argc, char **argv, const char **ret, struct err *e)
{
	*ret = optind < argc ? argv[optind++] : NULL;
	if (optind < argc)
		return err_set(e, ERR_INVALID, "\"%.60s\" is one name too many", argv[optind]);
	return 0;
}
