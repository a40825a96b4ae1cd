/*
 * Fields of CSV (RFC 4180). Text comes from servers and users: control characters are shown as '?',
 * and what a spreadsheet would take for a formula becomes text.
 */
#ifndef SLUICE_CLI_CSV_H
#define SLUICE_CLI_CSV_H

#include "base/buf.h"

#define CSV_END "\r\n"

void csv_text(struct buf *out, const char *raw);

#endif
