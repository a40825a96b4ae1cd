#include "words_reserve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "pieces.h"
#include "queue/price/money.h"
#include "sluice/quantity.h"
#include "words_time.h"

struct reserve_words {
	struct advance_reservation_spec s;
	struct advance_amount amount[ADVANCE_AMOUNTS_MAX + 1], left[8];
	const char *ns[ADVANCE_NAMES_MAX + 1], *user[ADVANCE_NAMES_MAX + 1];
	const char *flavor; /* of the amounts that follow */
	bool is_left, has_amount;
};

static size_t read_list(char *text, const char **ret)
{
	size_t n = 0;
	char *save;
	for (char *t = strtok_r(text, ",", &save); t && n < ADVANCE_NAMES_MAX;
		t = strtok_r(NULL, ",", &save))
		ret[n++] = t;
	return n;
}

/* A flavor that no amount follows is reserved whole. */
static void end_flavor(struct reserve_words *x)
{
	if (x->flavor && !x->has_amount && !x->is_left)
		x->amount[x->s.namounts++] = (struct advance_amount){x->flavor, "", 0};
	x->has_amount = false;
}

static bool read_amount(struct words *w, struct reserve_words *x, const char *resource, char *value)
{
	struct advance_amount a = {x->flavor, resource, 0};
	if (!x->flavor || !piece_amount(w, resource, value, &a.amount))
		return piece_wrong(w, "reserve: what is %s?", resource);
	x->has_amount = true;
	if (x->is_left)
		x->left[x->s.nleft++] = a;
	else
		x->amount[x->s.namounts++] = a;
	return true;
}

static bool read_value(struct words *w, struct reserve_words *x, const char *key, char *value)
{
	struct advance_reservation_spec *s = &x->s;
	if (strcmp(key, "queue") == 0)
		s->clusterqueue = value;
	else if (strcmp(key, "from") == 0)
		s->from_ms = words_instant(value);
	else if (strcmp(key, "until") == 0)
		s->until_ms = words_instant(value);
	else if (strcmp(key, "calendar") == 0)
		s->calendar = value;
	else if (strcmp(key, "ns") == 0)
		s->nnamespaces = read_list(value, x->ns);
	else if (strcmp(key, "users") == 0)
		s->nusers = read_list(value, x->user);
	else if (strcmp(key, "release") == 0)
		s->release_after_ms = atoll(value) * 1000;
	else if (strcmp(key, "created") == 0)
		s->created_ms = words_instant(value);
	else if (strcmp(key, "left-from") == 0)
		s->left_from_ms = words_instant(value);
	else
		return read_amount(w, x, key, value);
	return true;
}

static void read_word(struct reserve_words *x, char *word)
{
	if (strcmp(word, "maintenance") == 0) {
		x->s.maintenance = true;
	} else if (strcmp(word, "accepted") == 0) {
		x->s.accepted = true;
	} else if (strcmp(word, "deleting") == 0) {
		x->s.deleting = true;
	} else if (strcmp(word, "left") == 0) {
		end_flavor(x);
		x->is_left = true;
		x->flavor = NULL;
	} else {
		end_flavor(x);
		x->flavor = word;
	}
}

/* Two objects of a name are the same one. */
static struct uid uid_of(const char *name)
{
	struct uid uid = {{0}};
	uint64_t hash = map_hash_string(name);
	memcpy(&uid, &hash, sizeof(hash));
	return uid;
}

bool words_tell_reserve(struct words *w, char **word, size_t n)
{
	struct reserve_words x = {.s = {.name = word[1],
					  .uid = uid_of(word[1]),
					  .generation = ++w->generation,
					  .clusterqueue = "",
					  .calendar = ""}};
	for (size_t i = 2; i < n; i++) {
		char *value = piece_after(word[i], '=');
		if (!value)
			read_word(&x, word[i]);
		else if (!read_value(w, &x, word[i], value))
			return false;
	}
	end_flavor(&x);
	x.s.amount = x.amount;
	x.s.left = x.left;
	x.s.namespaces = x.ns;
	x.s.users = x.user;
	queue_set_advance_reservation(w->q, &x.s, &w->refused);
	return true;
}

/* ---- Answers ---- */

static const char *number(int64_t value, const char *resource)
{
	static char text[4][64];
	static size_t turn;
	char *t = text[turn++ % 4];
	quantity_describe(value, resource, t, sizeof(text[0]));
	t[strcspn(t, " ")] = '\0';
	return t;
}

static void say_uses(const struct advance_reservation_view *v, char *ret, size_t size)
{
	for (size_t i = 0; i < v->nuse; i++) {
		const struct advance_use *u = &v->use[i];
		size_t len = strlen(ret);
		snprintf(ret + len, size - len, " %s:%s=%s/%s used=%s", u->clusterqueue,
			u->resource, number(u->left, u->resource), number(u->amount, u->resource),
			number(u->used, u->resource));
	}
}

static void say_state(
	struct words *w, const struct advance_reservation_view *v, char *ret, size_t size)
{
	static const char *const state[] = {[ADVANCE_REFUSED] = "refused",
		[ADVANCE_SCHEDULED] = "scheduled",
		[ADVANCE_ACTIVE] = "active",
		[ADVANCE_ENDED] = "ended"};
	size_t len = (size_t)snprintf(
		ret, size, "reservation %s %s %s", v->name, state[v->state], v->accepted.reason);
	if (*v->kept.reason)
		len += (size_t)snprintf(ret + len, size - len, " %s", v->kept.reason);
	if (v->from_ms || v->until_ms) {
		len += (size_t)snprintf(ret + len, size - len, " %s", words_time(w, v->from_ms));
		len += (size_t)snprintf(ret + len, size - len, "..%s", words_time(w, v->until_ms));
	}
	if (v->possible_from_ms)
		snprintf(ret + len, size - len, " possible=%s", words_time(w, v->possible_from_ms));
	say_uses(v, ret, size);
	len = strlen(ret);
	if (v->has_cost) {
		char cost[MONEY_TEXT_SIZE];
		money_format(v->cost, cost);
		snprintf(ret + len, size - len, " cost=%s", cost);
	}
}

bool words_say_reservation(
	struct words *w, char **word, size_t n, bool sentence, char *ret, size_t size)
{
	struct advance_reservation_view v;
	bool accepted = strcmp(word[0], "accepted") == 0, kept = strcmp(word[0], "kept") == 0;
	if (n < 2 || (!accepted && !kept && strcmp(word[0], "reservation") != 0))
		return false;
	snprintf(ret, size, "%s %s is not shown", word[0], word[1]);
	for (size_t i = 0; queue_view_advance_reservation(w->q, i, &v); i++) {
		const struct condition_view *c = accepted ? &v.accepted : &v.kept;
		if (strcmp(v.name, word[1]) != 0)
			continue;
		if (!accepted && !kept) {
			say_state(w, &v, ret, size);
			return true;
		}
		int len = snprintf(ret, size, "%s %s %s", word[0], v.name, c->reason);
		if (sentence)
			snprintf(ret + len, size - (size_t)len, " \"%s\"", c->message);
	}
	return true;
}
