#include "forecast/board.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/must.h"

bool board_init(struct board *b, size_t jobs, size_t draws, size_t variants)
{
	size_t cells = draws * variants;
	*b = (struct board){.jobs = jobs, .draws = draws, .variants = variants};
	size_t bytes = variants * (sizeof(*b->variant) + sizeof(*b->text_len) + ASK_NOTE_SIZE) +
		       cells * (sizeof(*b->costs) + jobs * (sizeof(*b->start_ms) + 1) + 1);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	b->variant = memory;
	b->text_len = (size_t *)(b->variant + variants);
	b->costs = (struct play_costs *)(b->text_len + variants);
	b->start_ms = (int64_t *)(b->costs + cells);
	b->reason = (uint8_t *)(b->start_ms + cells * jobs);
	b->end = b->reason + cells * jobs;
	b->text = (char *)(b->end + cells);
	return true;
}

static size_t board_cell(const struct board *b, size_t variant, size_t draw)
{
	return variant * b->draws + draw;
}

void board_note(struct board *b, size_t variant, size_t draw, const struct play_result *r)
{
	size_t cell = board_cell(b, variant, draw);
	must(r->n == b->jobs);
	for (size_t i = 0; i < r->n; i++) {
		b->start_ms[cell * b->jobs + i] = r->start[i].start_ms;
		b->reason[cell * b->jobs + i] = (uint8_t)r->start[i].reason;
	}
	b->costs[cell] = r->costs;
	b->end[cell] = (uint8_t)(1 + r->end);
}

void board_note_refusal(struct board *b, size_t variant, const char *sentence)
{
	snprintf(b->variant[variant].refused, ASK_REFUSAL_SIZE, "%s",
		*sentence ? sentence : "it cannot be changed so");
}

/* Writes the length last: a play that ends in between leaves no half text. */
void board_note_text(struct board *b, size_t variant, struct slice text)
{
	memcpy(b->text + variant * ASK_NOTE_SIZE, text.ptr, text.len);
	b->text_len[variant] = text.len;
}

bool board_has_text(const struct board *b, size_t variant)
{
	return b->text_len[variant] > 0;
}

struct slice board_text(const struct board *b, size_t variant)
{
	return (struct slice){b->text + variant * ASK_NOTE_SIZE, b->text_len[variant]};
}

bool board_refused_all(const struct board *b)
{
	for (size_t v = 1; v < b->variants; v++)
		if (!b->variant[v].refused[0])
			return false;
	return b->variants > 1;
}

void board_forget_draw(struct board *b, size_t draw)
{
	for (size_t v = 0; v < b->variants; v++)
		b->end[board_cell(b, v, draw)] = 0;
}

/* Tells whether a draw counts for a variant. */
static bool has(const struct board *b, size_t variant, size_t draw)
{
	return b->end[board_cell(b, 0, draw)] > 0 && b->end[board_cell(b, variant, draw)] > 0;
}

void board_count(struct board *b, size_t variant)
{
	struct ask_variant *v = &b->variant[variant];
	for (size_t draw = 0; draw < b->draws; draw++) {
		const struct play_costs *costs = &b->costs[board_cell(b, variant, draw)];
		if (!has(b, variant, draw))
			continue;
		v->draws++;
		for (size_t i = 0; i < costs->n; i++)
			play_costs_add(&v->costs, costs->item[i].currency, costs->item[i].amount);
	}
	for (size_t i = 0; i < v->costs.n; i++)
		v->costs.item[i].amount /= (int64_t)v->draws;
}

size_t board_cut(const struct board *b)
{
	size_t n = 0;
	for (size_t draw = 0; draw < b->draws; draw++)
		n += b->end[draw] == 1 + PLAY_CUT;
	return n;
}

struct eta board_eta(const struct board *b, const struct uid *uid, size_t variant, size_t job)
{
	int64_t start_ms[QUANTILES_DRAWS_MAX];
	struct eta eta = {.uid = *uid, .start = {PLAY_NEVER, PLAY_NEVER, PLAY_NEVER, 0}};
	size_t n = 0;
	for (size_t draw = 0; draw < b->draws; draw++) {
		size_t cell = board_cell(b, variant, draw);
		if (!has(b, variant, draw))
			continue;
		start_ms[n] = b->start_ms[cell * b->jobs + job];
		bool starts = start_ms[n++] != PLAY_NEVER;
		eta.unknown += !starts && b->end[cell] == 1 + PLAY_CUT;
		if (!starts && eta.reason == WAIT_NOT)
			eta.reason = (enum wait_reason)b->reason[cell * b->jobs + job];
	}
	if (n > 0)
		eta.start = quantiles_of(start_ms, n);
	return eta;
}
