/*
 * The terminal as a screen: its other page, without echo, key by key, and as it was when that is
 * over: at exit, on a signal that ends the program, and while it is stopped (Ctrl-Z).
 *
 * There is one terminal, and signals know no context: so its state is the process's.
 */
#ifndef SLUICE_CLI_TOP_TERMINAL_H
#define SLUICE_CLI_TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct terminal_size {
	size_t rows, columns;
};

/* True if keys come from a terminal and lines go to one. */
bool terminal_is_there(void);
struct terminal_size terminal_size_now(void);

void terminal_enter(void);
void terminal_leave(void); /* does nothing where it was not entered */

/* Writes the lines over those that are there. */
void terminal_draw(const char *lines);

#endif
