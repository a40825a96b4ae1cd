#include "forecast/ask.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/mem.h"
#include "base/must.h"
#include "forecast/ask_child.h"
#include "forecast/board.h"

struct ask {
	struct child child;
	size_t most; /* etas of a variant that the answer may have */
	size_t variants;
	bool text_only;
	int64_t now_ms;
	struct child_message answer; /* as ask_child.h has it */
};

int ask_begin(const struct queue *q, const struct ask_options *o, struct ask **ret, struct err *e)
{
	must(o->draws > 0 && o->play_s > 0 && ask_variants_of(o) <= ASK_VARIANTS_MAX &&
		o->draws * ask_variants_of(o) <= QUANTILES_DRAWS_MAX);
	struct ask *a = mem_alloc(sizeof(*a));
	a->variants = ask_variants_of(o);
	a->text_only = o->text_only;
	a->now_ms = o->now_ms;
	a->most = ask_count_jobs(q);
	struct ask_child child = {q, o, a->most};
	int rc = child_start(
		&a->child, "sluice-forecast", "for a forecast", ask_child_run, &child, e);
	if (rc) {
		free(a);
		return rc;
	}
	*ret = a;
	return 0;
}

void ask_free(struct ask *a)
{
	if (!a)
		return;
	child_kill(&a->child);
	child_reap(&a->child, true, NULL);
	child_close(&a->child);
	child_message_done(&a->answer);
	free(a);
}

int ask_fd(const struct ask *a)
{
	return a->child.fd;
}

static int no_answer(struct ask *a, struct err *e)
{
	struct err how;
	int status = 0;
	child_kill(&a->child);
	child_reap(&a->child, true, &status);
	child_say_end(status, &how);
	if (status != -1 && WIFSIGNALED(status))
		return err_set(e, ERR_BUSY, "the forecast was ended by %s", how.text);
	return err_set(e, ERR_BUSY, "the forecast ended without an answer: no simulation finished");
}

static size_t bytes_of(const struct ask *a, size_t jobs)
{
	return sizeof(struct ask_head) + a->variants * sizeof(struct ask_variant) +
	       (a->text_only ? 0 : a->variants * jobs * sizeof(struct eta));
}

static const struct ask_head *head_of(const struct ask *a)
{
	return (const struct ask_head *)(const void *)a->answer.body;
}

static bool is_sound(const struct ask *a)
{
	const struct ask_head *head = head_of(a);
	size_t len = a->answer.head.len;
	return len >= sizeof(*head) && head->n <= a->most &&
	       head->text_len <= ask_text_max(head->n) && (head->draws > 0 || a->variants > 1) &&
	       len == bytes_of(a, head->n) + head->text_len;
}

static void take_answer(const struct ask *a, struct ask_answer *ret)
{
	const struct ask_head *head = head_of(a);
	const struct ask_variant *variant = (const struct ask_variant *)(const void *)(head + 1);
	*ret = (struct ask_answer){.n = head->n,
		.draws = head->draws,
		.cut = head->cut,
		.variants = a->variants,
		.variant = variant,
		.eta = a->text_only ? NULL
				    : (const struct eta *)(const void *)(variant + a->variants),
		.text = {a->answer.body + bytes_of(a, head->n), head->text_len},
		.now_ms = a->now_ms,
		.plays_cpu_us = head->plays_cpu_us,
		.play_cpu_most_us = head->play_cpu_most_us,
		.cpu_us = head->cpu_us};
}

int ask_read(struct ask *a, struct ask_answer *ret, struct err *e)
{
	int rc = child_receive(&a->child, &a->answer, bytes_of(a, a->most) + ask_text_max(a->most));
	if (rc < 0)
		return no_answer(a, e);
	if (rc > 0 && !is_sound(a))
		return err_set(e, ERR_BUSY, "the forecast's answer makes no sense");
	if (rc > 0)
		take_answer(a, ret);
	return rc;
}

bool ask_reap(struct ask *a)
{
	return child_reap(&a->child, false, NULL);
}

/* Finds a Job by uid. In tell() uids are an array of their own, else the first member of each
 * eta. */
size_t ask_index(const struct ask_answer *a, const struct uid *uid)
{
	const void *first = a->uid ? (const void *)a->uid : a->eta;
	size_t each = a->uid ? sizeof(*a->uid) : sizeof(*a->eta);
	const char *at = a->n ? bsearch(uid, first, a->n, each, ask_by_uid) : NULL;
	return at ? (size_t)(at - (const char *)first) / each : SIZE_MAX;
}

const struct eta *ask_find(const struct ask_answer *a, const struct uid *uid)
{
	size_t index = ask_index(a, uid);
	return index == SIZE_MAX ? NULL : &a->eta[index];
}

bool eta_is_unknown(const struct eta *eta)
{
	return eta->unknown > 0 && eta->start.p50_ms == PLAY_NEVER;
}

struct eta ask_eta(const struct ask_answer *a, size_t variant, size_t index)
{
	return a->board ? board_eta(a->board, &a->uid[index], variant, index)
			: a->eta[variant * a->n + index];
}

struct slice ask_note(const struct ask_answer *a, size_t variant)
{
	return board_text(a->board, variant);
}
