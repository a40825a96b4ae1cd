#include "words_after.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "pieces.h"

/* ---- The annotations ---- */

static bool read_kind(const char *word, enum dependency_kind *ret)
{
	for (enum dependency_kind k = AFTER_OK; k <= AFTER_SINGLETON; k++)
		if (strcmp(word, dependency_kind_name(k)) == 0) {
			*ret = k;
			return true;
		}
	return false;
}

static void read_selector(struct dependency *d, char *text)
{
	struct requirement *r = piece_keep(mem_alloc(sizeof(*r)));
	const char **value = piece_keep(mem_alloc(sizeof(*value)));
	text[strcspn(text, "}")] = '\0';
	*value = piece_after(text, '=');
	*r = (struct requirement){text, SELECTOR_IN, value, 1};
	d->selector = (struct selector_term){r, 1};
}

static struct dependency read_item(char *text)
{
	struct dependency d = {.kind = AFTER_OK, .text = piece_copy(text)};
	char *what = piece_after(text, ':');
	if (!what && read_kind(text, &d.kind))
		return d;
	if (what)
		read_kind(text, &d.kind);
	what = what ? what : text;
	if (*what == '{')
		read_selector(&d, what + 1);
	else
		d.name = what;
	return d;
}

bool words_after_of_job(struct job *j, const char *word, char *value)
{
	if (value && strcmp(word, "on-failure") == 0) {
		j->after.on_failure = strcmp(value, "Hold") == 0     ? DEPENDENCY_FAILURE_HOLD
				      : strcmp(value, "Delete") == 0 ? DEPENDENCY_FAILURE_DELETE
								     : DEPENDENCY_FAILURE_WAIT;
		return true;
	}
	if (!value || strcmp(word, "after") != 0)
		return false;
	struct dependency *item = piece_keep(mem_array(DEPENDENCIES_MAX + 1, sizeof(*item)));
	char *save;
	j->after.item = item;
	j->after.count = 0;
	for (char *t = strtok_r(value, ",", &save); t && j->after.count <= DEPENDENCIES_MAX;
		t = strtok_r(NULL, ",", &save))
		item[j->after.count++] = read_item(t);
	return true;
}

/* ---- What API server and ledger know ---- */

static struct words_predecessor *known(struct words *w, const char *ns_name, bool make)
{
	for (size_t i = w->npredecessors; i-- > 0;)
		if (strcmp(w->predecessor[i].ns_name, ns_name) == 0)
			return &w->predecessor[i];
	if (!make)
		return NULL;
	must(w->npredecessors < WORDS_PREDECESSORS_MAX);
	struct words_predecessor *x = &w->predecessor[w->npredecessors++];
	*x = (struct words_predecessor){.ns_name = mem_strdup(ns_name)};
	x->p.uid.byte[0] = 1;
	x->p.uid.byte[15] = (uint8_t)w->npredecessors;
	x->p.ns = mem_strndup(ns_name, strcspn(ns_name, "/"));
	x->p.name = x->ns_name + strcspn(ns_name, "/") + 1;
	x->p.failure = "";
	x->p.followed = true;
	return x;
}

static void tell(struct words *w, struct words_predecessor *x)
{
	x->p.labels = x->p.gone ? NULL : x->label;
	x->p.nlabels = x->p.gone ? 0 : x->nlabels;
	if (x->p.followed)
		queue_see_predecessor(w->q, &x->p);
}

static struct uid uid_numbered(int n)
{
	struct uid uid = {{2}};
	uid.byte[15] = (uint8_t)n;
	return uid;
}

static bool read_state(struct words_predecessor *x, const char *word)
{
	static const char *const name[] = {"waits", "started", "succeeded", "failed"};
	for (size_t i = 0; i < 4; i++)
		if (strcmp(word, name[i]) == 0) {
			x->p.state = (enum predecessor_state)i;
			return true;
		}
	return false;
}

static void read_done(struct words_predecessor *x, char *value)
{
	char *all = piece_after(value, '/');
	x->p.pods_done = atoi(value);
	x->p.pods = all ? atoi(all) : 0;
}

static bool read_word(struct words *w, struct words_predecessor *x, char *word)
{
	char *value = piece_after(word, '=');
	if (!value && read_state(x, word))
		return true;
	if (!value && strcmp(word, "unseen") == 0) {
		x->p.followed = false;
	} else if (!value) {
		free(x->failure);
		x->p.failure = x->failure = mem_strdup(word);
	} else if (strcmp(word, "at") == 0) {
		x->p.created_ms = atoll(value) * 1000;
	} else if (strcmp(word, "ended") == 0) {
		x->p.ended_ms = atoll(value) * 1000;
	} else if (strcmp(word, "done") == 0) {
		read_done(x, value);
	} else if (strcmp(word, "label") == 0 && x->nlabels < 4) {
		char *is = piece_after(value, ':');
		x->label[x->nlabels].key = mem_strdup(value);
		x->label[x->nlabels++].value = mem_strdup(is ? is : "");
	} else {
		return piece_wrong(w, "became: what is %s?", word);
	}
	return true;
}

/* "uid=N" of another Job of that name: that one is known, too, from now on. */
static struct words_predecessor *another(struct words *w, const char *ns_name, int number)
{
	struct uid uid = uid_numbered(number);
	struct words_predecessor *x = known(w, ns_name, false);
	if (x && uid_cmp(&x->p.uid, &uid) == 0)
		return x;
	char *old = x ? x->ns_name : NULL;
	if (x)
		x->ns_name = mem_strdup("");
	struct words_predecessor *fresh = known(w, ns_name, true);
	free(x ? x->ns_name : NULL);
	if (x)
		x->ns_name = old;
	fresh->p.uid = uid;
	return fresh;
}

static bool tell_became(struct words *w, char **word, size_t n)
{
	struct words_predecessor *x = known(w, word[1], true);
	for (size_t i = 2; i < n; i++)
		if (piece_value(word[i], "uid"))
			x = another(w, word[1], atoi(piece_value(word[i], "uid")));
	for (size_t i = 2; i < n; i++)
		if (!piece_value(word[i], "uid") && !read_word(w, x, word[i]))
			return false;
	bool ended = x->p.state == PREDECESSOR_SUCCEEDED || x->p.state == PREDECESSOR_FAILED;
	if (ended && x->p.ended_ms == 0)
		x->p.ended_ms = w->now_ms;
	tell(w, x);
	if (ended) {
		queue_end_job(w->q, &x->p.uid, w->now_ms);
		queue_drop_job(w->q, &x->p.uid);
	}
	return true;
}

static bool tell_gone(struct words *w, char **word, size_t n)
{
	struct words_predecessor *x = known(w, word[1], false);
	if (!x)
		return piece_wrong(w, "%s was never there", word[1]);
	x->p.gone = true;
	x->p.deleted = x->p.ended_ms == 0;
	x->p.labels = NULL;
	x->p.nlabels = 0;
	if (n == 2)
		queue_lose_predecessor(w->q, &x->p.uid, x->p.ns, x->p.name);
	return true;
}

static bool tell_forget(struct words *w, char **word)
{
	struct words_predecessor *x = known(w, word[1], false);
	if (!x)
		return piece_wrong(w, "%s was never there", word[1]);
	x->forgotten = true;
	return true;
}

bool words_tell_after(struct words *w, char **word, size_t n, bool *ret_known)
{
	*ret_known = true;
	if (n > 2 && strcmp(word[0], "became") == 0)
		return tell_became(w, word, n);
	if (n > 1 && strcmp(word[0], "gone") == 0)
		return tell_gone(w, word, n);
	if (n > 1 && strcmp(word[0], "forget") == 0)
		return tell_forget(w, word);
	if (n > 1 && strcmp(word[0], "questions") == 0)
		w->silent = strcmp(word[1], "stay") == 0;
	else
		*ret_known = false;
	return true;
}

/* ---- As the gate does ---- */

void words_after_told(struct words *w, const struct job *j)
{
	char ns_name[256];
	snprintf(ns_name, sizeof(ns_name), "%s/%s", j->ns, j->name);
	bool fresh = !known(w, ns_name, false);
	struct words_predecessor *x = known(w, ns_name, true);
	if (!fresh || !x)
		return;
	x->p.uid = j->uid;
	x->p.created_ms = j->created_ms;
	for (; x->nlabels < j->nlabels && x->nlabels < 4; x->nlabels++) {
		x->label[x->nlabels].key = mem_strdup(j->labels[x->nlabels].key);
		x->label[x->nlabels].value = mem_strdup(j->labels[x->nlabels].value);
	}
	tell(w, x);
}

void words_after_started(struct words *w, const struct uid *uid)
{
	for (size_t i = 0; i < w->npredecessors; i++) {
		struct words_predecessor *x = &w->predecessor[i];
		if (uid_cmp(&x->p.uid, uid) != 0 || x->p.state != PREDECESSOR_WAITS)
			continue;
		x->p.state = PREDECESSOR_STARTED;
		tell(w, x);
	}
}

static bool is_wanted(const struct wanted_predecessors *asked, const struct words_predecessor *x)
{
	if (x->forgotten || strcmp(asked->ns, x->p.ns) != 0)
		return false;
	return asked->name
		       ? strcmp(asked->name, x->p.name) == 0
		       : x->p.labels && labels_match(x->p.labels, x->p.nlabels, asked->selector);
}

void words_answer_wanted(struct words *w)
{
	struct wanted_predecessors asked;
	struct predecessor found[WORDS_PREDECESSORS_MAX];
	w->nasked = 0;
	while (!w->silent && queue_take_wanted(w->q, &asked)) {
		size_t n = 0;
		for (size_t i = 0; i < w->npredecessors; i++)
			if (is_wanted(&asked, &w->predecessor[i]))
				found[n++] = w->predecessor[i].p;
		queue_answer_wanted(w->q, asked.id, found, n);
		w->nasked++;
	}
}

void words_after_done(struct words *w)
{
	for (size_t i = 0; i < w->npredecessors; i++) {
		struct words_predecessor *x = &w->predecessor[i];
		free((char *)(uintptr_t)x->p.ns);
		free(x->ns_name);
		free(x->failure);
		for (size_t k = 0; k < x->nlabels; k++) {
			free((char *)(uintptr_t)x->label[k].key);
			free((char *)(uintptr_t)x->label[k].value);
		}
	}
}
