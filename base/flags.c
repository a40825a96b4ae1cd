#include "base/flags.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"

/* getopt_long() returns FIRST + the flag's number. */
enum { FLAGS_MAX = 64, FIRST = 256, WORD = 1 };

/* ---- kinds ----------------------------------------------------------------------------------- */

int flag_refuse(const struct flag *f, const char *text, struct err *e)
{
	return err_set(
		e, ERR_INVALID, "--%s is \"%.80s\"; it must be %s", f->name, text, f->must_be);
}

int flag_text(const struct flag *f, const char *text, void *to, struct err *e)
{
	(void)f;
	(void)e;
	*(const char **)to = text;
	return 0;
}

int flag_some(const struct flag *f, const char *text, void *to, struct err *e)
{
	*(const char **)to = text;
	return text[0] ? 0
		       : err_set(e, ERR_INVALID, "--%s is empty; give it a value or leave it out",
				 f->name);
}

int flag_given(const struct flag *f, const char *text, void *to, struct err *e)
{
	(void)f;
	(void)text;
	(void)e;
	*(bool *)to = true;
	return 0;
}

bool flag_read_number(const char *text, int64_t *ret)
{
	char *end;
	errno = 0;
	*ret = strtoll(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

int flag_amount(const struct flag *f, const char *text, void *to, struct err *e)
{
	int64_t n = 0;
	bool zero = f->zero && (strcmp(text, "0") == 0 || strcmp(text, "0s") == 0);
	bool good = zero || ((f->read ? f->read : flag_read_number)(text, &n) && n >= f->least &&
				    (!f->most || n <= f->most));
	if (good)
		*(int64_t *)to = n * (f->unit ? f->unit : 1);
	if (good || f->must_be)
		return good ? 0 : flag_refuse(f, text, e);
	return err_set(e, ERR_INVALID,
		"--%s is \"%.60s\"; it must be a whole number from %" PRId64 " to %" PRId64,
		f->name, text, f->least, f->most);
}

int flag_either(const struct flag *f, const char *text, void *to, struct err *e)
{
	(void)e;
	*(bool *)to = flag_choice(f->value, text) == 1;
	return 0;
}

int flag_pick(const struct flag *f, const char *text, void *to, struct err *e)
{
	(void)e;
	*(unsigned *)to = (unsigned)flag_choice(f->value, text);
	return 0;
}

static int take_text(
	struct flag_texts *to, const char *text, const char *of, const char *cure, struct err *e)
{
	size_t max = sizeof(to->text) / sizeof(*to->text);
	if (to->count == max)
		return err_set(e, ERR_LIMIT, "more than %zu %s; %s", max, of, cure);
	to->text[to->count++] = text;
	return 0;
}

int flag_file(const struct flag *f, const char *text, void *to, struct err *e)
{
	(void)f;
	return take_text(to, text, "files", "join them", e);
}

int flag_many(const struct flag *f, const char *text, void *to, struct err *e)
{
	char of[64] = "--";
	strncat(of, f->name, sizeof(of) - 3);
	return take_text(to, text, of, "give fewer at once", e);
}

int flag_help(const struct flag *f, const char *text, void *to, struct err *e)
{
	(void)f;
	(void)text;
	(void)to;
	(void)e;
	return FLAGS_HELP;
}

int flag_version(const struct flag *f, const char *text, void *to, struct err *e)
{
	(void)f;
	(void)text;
	(void)to;
	(void)e;
	return FLAGS_VERSION;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Returns the length of a label (letters and digits, with dashes between them); 0: it is none. */
static size_t label_length(const char *text)
{
	static const char inside[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t len = strspn(text, inside);
	return len > 0 && text[0] != '-' && text[len - 1] != '-' ? len : 0;
}

static bool is_label(const char *text)
{
	size_t len = label_length(text);
	return len > 0 && len <= 63 && !text[len];
}

static bool is_name(const char *text)
{
	size_t len = label_length(text), end = len;
	while (len > 0 && text[end] == '.') {
		len = label_length(text + end + 1);
		end += 1 + len;
	}
	return len > 0 && end <= 253 && !text[end];
}

static int refuse_name(const char *flag, const char *text, struct err *e)
{
	return err_set(e, ERR_INVALID, "%s is \"%.80s\", which is not the name of one", flag, text);
}

int flag_check_namespace(const char *flag, const char *text, struct err *e)
{
	return is_label(text) ? 0 : refuse_name(flag, text, e);
}

int flag_check_name(const char *flag, const char *text, struct err *e)
{
	return is_name(text) ? 0 : refuse_name(flag, text, e);
}

static int take_name(const struct flag *f, const char *text, bool good, void *to, struct err *e)
{
	char shown[64] = "--";
	*(const char **)to = text;
	strncat(shown, f->name, sizeof(shown) - 3);
	if (good || f->must_be)
		return good ? 0 : flag_refuse(f, text, e);
	return refuse_name(shown, text, e);
}

int flag_name_of(const struct flag *f, const char *text, void *to, struct err *e)
{
	return take_name(f, text, is_name(text), to, e);
}

int flag_namespace(const struct flag *f, const char *text, void *to, struct err *e)
{
	return take_name(f, text, is_label(text), to, e);
}

int flag_configmap(const struct flag *f, const char *text, void *to, struct err *e)
{
	const char *slash = strchr(text, '/');
	size_t ns = slash ? (size_t)(slash - text) : 0;
	*(const char **)to = text;
	if (!*text || (ns > 0 && ns <= 63 && label_length(text) == ns && is_name(slash + 1)))
		return 0;
	return err_set(e, ERR_INVALID,
		"--%s is \"%.100s\"; it must be NAMESPACE/NAME of a ConfigMap, such as kube-system/ack-slo-config, or empty for none",
		f->name, text);
}

/* ---- words to choose from -------------------------------------------------------------------- */

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

/* Makes "table, wide or json" of "table|wide|json". */
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

/* ---- the walk -------------------------------------------------------------------------------- */

const struct flag *flags_at(const struct flag_table *t, size_t number, size_t *ret_base)
{
	*ret_base = number < t->count ? 0 : t->more_to;
	if (number < t->count)
		return &t->flag[number];
	number -= t->count;
	return t->more && number < t->more->count ? &t->more->flag[number] : NULL;
}

const struct flag *flags_find(const struct flag_table *t, const char *name, size_t len)
{
	const struct flag *f, *found = NULL;
	size_t base, several = 0;
	for (size_t i = 0; (f = flags_at(t, i, &base)); i++) {
		if (strncmp(f->name, name, len) != 0)
			continue;
		if (!f->name[len])
			return f;
		found = f;
		several++;
	}
	return several == 1 ? found : NULL;
}

const struct flag *flags_find_letter(const struct flag_table *t, int letter)
{
	const struct flag *f;
	size_t base;
	for (size_t i = 0; (f = flags_at(t, i, &base)); i++)
		if (f->letter == letter)
			return f;
	return NULL;
}

int flag_take(const struct flag *f, const char *text, void *options, struct err *e)
{
	int rc = check_choice(f, text, e);
	return rc < 0 ? rc : f->take(f, text, (char *)options + f->to, e);
}

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

/* Tells getopt_long() the flags: letters are short for the long flag that has them. */
static void list_flags(const struct flag_table *t, struct option longs[FLAGS_MAX + 1],
	char shorts[2 * FLAGS_MAX + 3])
{
	size_t n = 0, base;
	if (t->take_word)
		*shorts++ = '-';
	*shorts++ = ':';
	for (const struct flag *f; (f = flags_at(t, n, &base)); n++) {
		must(n < FLAGS_MAX);
		longs[n] = (struct option){
			f->name, f->alone ? no_argument : required_argument, NULL, FIRST + (int)n};
		if (f->letter)
			*shorts++ = f->letter;
		if (f->letter && !f->alone)
			*shorts++ = ':';
	}
	longs[n] = (struct option){0};
	*shorts = '\0';
}

static int take(const struct flag_table *t, int got, void *options, struct err *e)
{
	size_t base = 0; /* flags of another module have no letters */
	if (got == WORD)
		return t->take_word(NULL, optarg, options, e);
	const struct flag *f = got >= FIRST ? flags_at(t, (size_t)(got - FIRST), &base)
					    : flags_find_letter(t, got);
	must(f); /* getopt knows no others */
	return flag_take(f, optarg, (char *)options + base, e);
}

/* Takes all flags of argv, wherever they stand. Then optind is at the first word that is no flag
 * and was not taken. */
static int walk(int argc, char **argv, const struct flag_table *t, void *options, struct err *e)
{
	struct option longs[FLAGS_MAX + 1];
	char shorts[2 * FLAGS_MAX + 3];
	int rc = 0;
	list_flags(t, longs, shorts);
	/* glibc: forget an earlier walk. After "-yw" with an unknown y it would go on with the
	 * w, in words that may be gone. */
	optind = 0;
	opterr = 0;
	for (int got; rc == 0 && (got = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
		if (got == ':' || got == '?')
			return wrong_flag(argc, argv, got, e);
		rc = take(t, got, options, e);
	}
	for (; rc == 0 && t->take_word && optind < argc; optind++) /* behind "--" */
		rc = t->take_word(NULL, argv[optind], options, e);
	return rc;
}

/* Puts words such as -5 behind all others. Returns how many there are. */
static int set_negatives_aside(int argc, char **argv)
{
	int n = 0;
	for (int i = 1; i < argc - n;) {
		char *word = argv[i];
		size_t digits = word[0] == '-' ? strspn(word + 1, "0123456789") : 0;
		if (digits == 0 || word[digits + 1]) {
			i++;
			continue;
		}
		memmove(argv + i, argv + i + 1, (size_t)(argc - 1 - i) * sizeof(*argv));
		argv[argc - 1] = word;
		n++;
	}
	return n;
}

void flags_begin(const struct flag_table *t, void *options)
{
	memset(options, 0, t->size);
	if (t->more)
		flags_begin(t->more, (char *)options + t->more_to);
	if (t->begin)
		t->begin(options);
}

static int too_many(const char *word, struct err *e)
{
	return err_set(e, ERR_INVALID, "\"%.60s\" is one name too many", word);
}

int flags_finish(
	const struct flag_table *t, void *options, char **word, size_t nwords, struct err *e)
{
	int rc = 0;
	if (t->finish)
		rc = t->finish(options, word, nwords, e);
	else if (nwords > 0)
		rc = too_many(word[0], e);
	if (rc == 0 && t->more)
		rc = flags_finish(t->more, (char *)options + t->more_to, NULL, 0, e);
	return rc;
}

int flags_read(const struct flag_table *t, int argc, char **argv, void *options, struct err *e)
{
	flags_begin(t, options);
	int rc = walk(
		argc - (t->negatives ? set_negatives_aside(argc, argv) : 0), argv, t, options, e);
	if (rc == 0)
		rc = flags_finish(t, options, argv + optind, (size_t)(argc - optind), e);
	if (rc < 0)
		flags_done(t, options);
	return rc;
}

void flags_done(const struct flag_table *t, void *options)
{
	if (t->done)
		t->done(options);
	if (t->more)
		flags_done(t->more, (char *)options + t->more_to);
}

int flags_one_word(char **word, size_t nwords, const char **ret, struct err *e)
{
	*ret = nwords > 0 ? word[0] : NULL;
	return nwords > 1 ? too_many(word[1], e) : 0;
}
