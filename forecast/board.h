/*
 * The board of an ask: where its plays write when each Job started. Memory that the child shares with
 * them (ask_child.c); each play writes its own part.
 */
#ifndef SLUICE_FORECAST_BOARD_H
#define SLUICE_FORECAST_BOARD_H

#include "forecast/ask.h"

/* A play is a cell. */
struct board {
	size_t jobs, draws, variants;
	struct ask_variant *variant;
	struct play_costs *costs; /* [cell] */
	int64_t *start_ms;	  /* [cell][job] */
	uint8_t *reason;	  /* [cell][job] */
	uint8_t *end;		  /* [cell]: 1 + enum play_end; 0: it did not come to an end */
	size_t *text_len;	  /* [variant]; 0: none came */
	char *text;		  /* [variant][ASK_NOTE_SIZE] */
};

/* False: there is no such memory. It is never given back: the child ends soon. */
bool board_init(struct board *b, size_t jobs, size_t draws, size_t variants);

/* ---- Of plays ---- */

void board_note(struct board *b, size_t variant, size_t draw, const struct play_result *r);
void board_note_refusal(struct board *b, size_t variant, const char *sentence);
/* What decided() said. */
void board_note_text(struct board *b, size_t variant, struct slice text);
bool board_has_text(const struct board *b, size_t variant);

/* ---- Of the child ---- */

/* Of several variants, is none left but the queue as it is? */
bool board_refused_all(const struct board *b);
/* It counts for no variant. */
void board_forget_draw(struct board *b, size_t draw);
struct slice board_text(const struct board *b, size_t variant);
/* Once, after the last play: draws and costs of the variant. */
void board_count(struct board *b, size_t variant);
/* Plays of variant 0 that were cut off. */
size_t board_cut(const struct board *b);
/* After board_count(): what the draws say of a Job, whose uid this is. */
struct eta board_eta(const struct board *b, const struct uid *uid, size_t variant, size_t job);

#endif
