/*
 * The screen of `sluice top`: answers and a size go in, lines come out. Pure.
 *
 *     how many run, wait, and need attention; the next starts
 *     ClusterQueues, with a bar of what is used where the user may see quota
 *     why Jobs wait, and until when
 *     the Jobs, with the cursor; or the explanation of one
 *     what was done or refused, and the keys
 *
 * Where there are few rows, Jobs get half of them, and what is above them is cut, its last parts
 * first. Text of Jobs is shown as text_render() of table.h has it: no terminal obeys it.
 */
#ifndef SLUICE_CLI_TOP_LAYOUT_H
#define SLUICE_CLI_TOP_LAYOUT_H

#include "cli/table.h"
#include "cli/top/answers.h"
#include "cli/top/view.h"

struct top_picture {
	const struct top_answers *answers;
	const struct top_view *view;
	size_t rows, columns; /* 0: as many as it takes, once, without cursor and keys */
	int64_t now_ms;
	struct style style;
};

/* Appends the lines, `rows` at most, each no wider than `columns`. */
void top_draw(const struct top_picture *p, struct buf *out);

#endif
