#include "cli/completion/candidates.h"

#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "cli/command_table.h"
#include "cli/doctor/checks.h"
#include "cli/help.h"
#include "cli/live_object.h"

enum { WORDS_MAX = 64, KIND_MAX = 32, NAMES_MAX_BYTES = 1024 * 1024 };

/* The line, as far as it was read: up to the word that is to be completed. */
struct line {
	const struct command_row *row; /* NULL: there is no such command */
	const char *word[WORDS_MAX];   /* behind the command, without flags */
	size_t nwords;
	bool wants; /* the next word is the value of this flag */
	const struct flag *flag;
	bool no_more_flags; /* behind "--" */
	struct completion_place place;
};

struct answer {
	const char *begun; /* the beginning of each candidate */
	struct slice lead; /* the part of begun before the name: "job/", "--output=" */
	bool files;
	bool goes_on; /* a candidate is no whole word yet */
	size_t count;
	char last; /* how the last candidate ended */
	completion_names *names;
	struct completion_place place;
	struct buf *out;
};

/* ---- the line that was typed ------------------------------------------------------------------- */

static void take_value(struct line *l, const char *text)
{
	l->wants = false;
	if (strcmp(l->flag->name, "namespace") == 0)
		l->place.namespace_name = text;
	else if (strcmp(l->flag->name, "kubeconfig") == 0)
		l->place.kube.kubeconfig = text;
	else if (strcmp(l->flag->name, "context") == 0)
		l->place.kube.context = text;
}

static void read_long(struct line *l, const char *name)
{
	size_t len = strcspn(name, "=");
	l->flag = flags_find(l->row->flags, name, len);
	l->wants = l->flag && !l->flag->alone;
	if (l->wants && name[len] == '=')
		take_value(l, name + len + 1);
}

/* Reads letters: -wn team, -wnteam. */
static void read_letters(struct line *l, const char *letter)
{
	for (; *letter && (l->flag = flags_find_letter(l->row->flags, *letter)); letter++) {
		if (l->flag->alone)
			continue;
		l->wants = true;
		if (letter[1])
			take_value(l, letter + 1);
		return;
	}
}

static void read_name(struct line *l, const char *word)
{
	if (l->row == &command_table[0])
		l->row = command_find(word);
	else if (l->nwords < WORDS_MAX)
		l->word[l->nwords++] = word;
}

static void read_word(struct line *l, const char *word)
{
	if (l->wants && strcmp(word, "=") == 0)
		return; /* bash: "--output=json" is three words */
	if (l->wants)
		take_value(l, word);
	else if (l->no_more_flags || word[0] != '-' || !word[1])
		read_name(l, word);
	else if (strcmp(word, "--") == 0)
		l->no_more_flags = true;
	else if (word[1] == '-')
		read_long(l, word + 2);
	else
		read_letters(l, word + 1);
}

/* ---- what is offered --------------------------------------------------------------------------- */

/* Offers a candidate. about: its description, up to the end of the line; NULL: none. */
static void offer(struct answer *a, struct slice name, const char *about)
{
	size_t begun = strlen(a->begun), lead = a->lead.len;
	size_t shared = begun > lead ? begun - lead : 0;
	if (name.len == 0 || name.len < shared || memcmp(name.ptr, a->begun + lead, shared) != 0)
		return;
	buf_add(a->out, a->lead.ptr, lead);
	buf_add(a->out, name.ptr, name.len);
	if (about) {
		buf_putc(a->out, '\t');
		buf_add(a->out, about, strcspn(about, "\n"));
	}
	buf_putc(a->out, '\n');
	a->count++;
	a->last = name.ptr[name.len - 1];
}

static void set_lead(struct answer *a, size_t len)
{
	a->lead = (struct slice){a->begun, len};
}

/* Offers the commands, each with the line of its page: "NAME\n sluice jobs - the queued Jobs". */
static void offer_commands(struct answer *a)
{
	static const char dash[] = " - ";
	for (size_t c = 1; c < COMMANDS; c++) {
		const struct command_row *row = &command_table[c];
		const char *page = help_page(row), *about = strstr(page, dash);
		bool own = page != help_page(&command_table[0]);
		offer(a, slice_of(row->name), own && about ? about + strlen(dash) : NULL);
	}
}

static void offer_names(struct answer *a, const char *kind, const char *lead)
{
	struct buf lines;
	buf_init(&lines, NAMES_MAX_BYTES);
	a->names(kind, &a->place, &lines);
	if (*lead && strncmp(a->begun + a->lead.len, lead, strlen(lead)) == 0)
		set_lead(a, a->lead.len + strlen(lead));
	for (const char *p = buf_text(&lines); *p;) {
		size_t len = strcspn(p, "\n");
		offer(a, (struct slice){p, len}, NULL);
		p += len + (p[len] == '\n');
	}
	buf_done(&lines);
}

/* Offers an object with its kind: "clusterqueue/", and then "clusterqueue/batch". */
static void offer_object(struct answer *a, bool with_field)
{
	const char *begun = a->begun + a->lead.len, *slash = strchr(begun, '/');
	const struct live_kind *k;
	char text[KIND_MAX];
	a->goes_on = with_field || !slash;
	for (size_t i = 0; !slash && (k = live_kind_at(i)); i++) {
		snprintf(text, sizeof(text), "%s/", k->singular);
		offer(a, slice_of(text), NULL);
	}
	k = slash ? live_kind_by_name((struct slice){begun, (size_t)(slash - begun)}) : NULL;
	if (!k || strchr(slash, ':'))
		return;
	set_lead(a, (size_t)(slash + 1 - a->begun));
	offer_names(a, k->kind, "");
}

static void offer_kind(struct answer *a, const char *kind)
{
	if (strcmp(kind, "FILE") == 0)
		a->files = true;
	else if (strcmp(kind, "COMMAND") == 0)
		offer_commands(a);
	else if (strcmp(kind, "CHECK") == 0)
		for (size_t i = 0; i < CHECKS_COUNT; i++)
			offer(a, slice_of(CHECKS[i].name), NULL);
	else if (strcmp(kind, "OBJECT") == 0 || strcmp(kind, "OBJECT-FIELD") == 0)
		offer_object(a, strcmp(kind, "OBJECT-FIELD") == 0);
	else if (strstr(kind, "JOB"))
		offer_names(a, kind, "job/");
	else if (strcmp(kind, "NODE") == 0)
		offer_names(a, kind, "node/");
	else
		offer_names(a, kind, "");
}

/* ---- the notation of base/flags.h ------------------------------------------------------------ */

static bool is_kind(struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((s.ptr[i] < 'A' || s.ptr[i] > 'Z') && s.ptr[i] != '-')
			return false;
	return true;
}

/* Returns the word that comes next in a way such as "show CALENDAR", behind those that are there.
 * Empty: none, or the words are of another way. */
static struct slice next_in_way(struct slice way, const char *const *word, size_t nwords)
{
	struct slice token = {way.ptr, 0};
	const char *p = way.ptr, *end = way.ptr + way.len;
	for (size_t i = 0;; i++) {
		size_t len = 0;
		while (p + len < end && p[len] != ' ')
			len++;
		if (len == 0)
			return (struct slice){way.ptr, 0};
		if (i == 0 || !slice_is((struct slice){p, len},
				      "...")) { /* else the word before it, again */
			token = (struct slice){p, len};
			p += len + (p + len < end);
		}
		if (i == nwords)
			return token;
		if (!is_kind(token) && !slice_is(token, word[i]))
			return (struct slice){way.ptr, 0};
	}
}

static void offer_word(struct answer *a, struct slice token)
{
	char kind[KIND_MAX];
	if (token.len == 0 || slice_is(token, "..."))
		return;
	if (!is_kind(token)) {
		offer(a, token, NULL);
		return;
	}
	snprintf(kind, sizeof(kind), "%.*s", (int)token.len, token.ptr);
	offer_kind(a, kind);
}

static void offer_notation(
	struct answer *a, const char *notation, const char *const *word, size_t nwords)
{
	if (!notation)
		return;
	for (const char *p = notation;; p++) {
		size_t len = strcspn(p, "|");
		offer_word(a, next_in_way((struct slice){p, len}, word, nwords));
		p += len;
		if (!*p)
			return;
	}
}

/* ---- the word that was begun ------------------------------------------------------------------- */

static void offer_values(struct answer *a, const struct flag *f)
{
	const char *comma = strrchr(a->begun, ',');
	if (comma && f->value && strstr(f->value, "|...")) /* Waiting,Run */
		set_lead(a, (size_t)(comma - a->begun) + 1);
	offer_notation(a, f->value, NULL, 0);
}

static void offer_flag(struct answer *a, const char *name)
{
	char text[128];
	snprintf(text, sizeof(text), "--%s", name);
	offer(a, slice_of(text), NULL);
}

static void offer_flags(struct answer *a, const struct flag_table *t)
{
	const char *eq = strchr(a->begun, '=');
	const struct flag *f;
	size_t base;
	if (eq && strncmp(a->begun, "--", 2) == 0) {
		set_lead(a, (size_t)(eq - a->begun) + 1);
		f = flags_find(t, a->begun + 2, a->lead.len - 3);
		if (f && !f->alone)
			offer_values(a, f);
		return;
	}
	for (size_t i = 0; (f = flags_at(t, i, &base)); i++)
		offer_flag(a, f->name);
}

static void complete(struct answer *a, const struct line *l)
{
	if (!l->row)
		return;
	if (l->wants) {
		if (strcmp(a->begun, "=") == 0)
			a->begun = ""; /* bash: "--output=" is two words */
		offer_values(a, l->flag);
	} else if (a->begun[0] == '-' && !l->no_more_flags) {
		offer_flags(a, l->row->flags);
	} else {
		offer_notation(a, l->row->words, l->word, l->nwords);
	}
}

void completion_candidates(
	char *const *words, size_t nwords, completion_names *names, struct buf *out)
{
	struct line l = {.row = &command_table[0]};
	for (size_t i = 0; i + 1 < nwords && l.row; i++)
		read_word(&l, words[i]);
	struct answer a = {.begun = nwords > 0 ? words[nwords - 1] : "",
		.names = names,
		.place = l.place,
		.out = out};
	set_lead(&a, 0);
	complete(&a, &l);
	int then = a.files ? 0 : COMPLETION_NO_FILES;
	if (a.count == 1 && (a.last == '=' || a.goes_on))
		then += COMPLETION_NO_SPACE;
	buf_printf(out, ":%d\n", then);
}
