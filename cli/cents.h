/*
 * Money of an answer on a terminal: two digits. JSON and CSV keep all that the API server sent.
 */
#ifndef SLUICE_CLI_CENTS_H
#define SLUICE_CLI_CENTS_H

/* An amount within a sentence: cents_of(text).s. It lives until the end of the expression in which it is made, and
 * no pointer to it is kept. */
struct cents_text {
	char s[40];
};

/* Writes "0.166414" as "0.17", as money_short() does. What is no amount stays as it is, cut to fit. */
struct cents_text cents_of(const char *decimal);

#endif
