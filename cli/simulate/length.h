/*
 * A length of time for people: "2d 3h", "4m 10s", "1.5s". Two units are enough to compare by.
 */
#ifndef SLUICE_CLI_SIMULATE_LENGTH_H
#define SLUICE_CLI_SIMULATE_LENGTH_H

#include <stdint.h>

#define LENGTH_TEXT_SIZE 48

/* Returns text. */
const char *length_text(int64_t ms, char text[LENGTH_TEXT_SIZE]);

#endif
