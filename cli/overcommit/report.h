/*
 * The report of `sluice overcommit` about a node: the sum, term by term, with a sentence in front.
 */
#ifndef SLUICE_CLI_OVERCOMMIT_REPORT_H
#define SLUICE_CLI_OVERCOMMIT_REPORT_H

#include "cli/overcommit/account.h"
#include "cli/table.h"

/* Writes the account. live: the node is of a cluster, and its present figures are shown. */
void report_account(const struct account *a, bool live, int64_t now_ms, const struct style *style,
	struct buf *out);
/* Writes the account as one object, and a line's end. */
void report_account_json(const struct account *a, bool live, int64_t now_ms, struct buf *out);

/* Writes an amount for people: "128Gi", "33G", else rounded down to a hundredth, "24.19Gi"; of cpu
 * "25", "1500m". */
const char *report_amount(int64_t amount, bool cpu, char ret[48]);

#endif
