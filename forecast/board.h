/*
 * The board of an ask, on which its plays write when each Job started: memory that the child shares
 * with them (ask_child.c). Each play writes its own part.
 */
#ifndef SLUICE_FORECAST_BOARD_H
#define SLUICE_FORECAST_BOARD_H

#include "forecast/ask.h"

/* The board. A cell is the play of a draw in a variant. */
struct board {
	size_t jobs, draws, variants;
	struct ask_variant *variant;
	struct play_costs *costs; /* [cell] */
	int64_t *start_ms;	  /* [cell][job] */
	uint8_t *reason;	  /* [cell][job] */
	uint8_t *end;	  /* [cell]: 1 + enum play_end; 0: the play did not come to an end */
	size_t *text_len; /* [variant]; 0: no note came */
	char *text;	  /* [variant][ASK_NOTE_SIZE] */
};

/* Makes a board, which is never given back: the child ends soon. False: there is no such memory. */
bool board_init(struct board *b, size_t jobs, size_t draws, size_t variants);

/* ---- Of plays ---- */

void board_note(struct board *b, size_t variant, size_t draw, const struct play_result *r);
void board_note_refusal(struct board *b, size_t variant, const char *sentence);
/* Notes what decided() said. */
void board_note_text(struct board *b, size_t variant, struct slice text);
bool board_has_text(const struct board *b, size_t variant);

/* ---- Of the child ---- */

/* Tells whether there were changed variants, and all of them were refused. */
bool board_refused_all(const struct board *b);
/* Forgets a draw: it counts for no variant. */
void board_forget_draw(struct board *b, size_t draw);
struct slice board_text(const struct board *b, size_t variant);
/* Sums up draws and costs of a variant: once, after the last play. */
void board_count(struct board *b, size_t variant);
/* Counts the plays of variant 0 that were cut off. */
size_t board_cut(const struct board *b);
/* Returns what the draws say of a Job, after board_count(). */
struct eta board_eta(const struct board *b, const struct uid *uid, size_t variant, size_t job);

#endif
