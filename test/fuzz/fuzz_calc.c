/*
 * Any bytes as a file for `sluice overcommit calc`: refused with a sentence that is safe to print,
 * or a sum of every node in it, shown in JSON that is JSON, and in text that has nothing in it that
 * a terminal obeys.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/must.h"
#include "cli/overcommit/report.h"
#include "cli/simulate/documents.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW INT64_C(1795255230000) /* 2026-11-21T10:00:30Z */

static void check_text(const char *s)
{
	must(slice_utf8(slice_of(s)));
	for (; *s; s++)
		must((unsigned char)*s >= 0x20 || *s == '\n');
}

static int read_all(struct snapshot *s, struct slice text, struct err *e)
{
	const cJSON *o;
	struct documents *d = documents_new(text);
	int rc;
	do {
		rc = documents_next(d, &o, e);
		if (rc > 0 && snapshot_add(s, o, NULL, e) < 0)
			rc = ERR_INVALID;
	} while (rc > 0);
	documents_free(d);
	return rc == 0 ? snapshot_close(s, e) : rc;
}

static void check_account(const struct account *a)
{
	struct style plain = {false, false};
	struct json *json = json_new(16 << 20);
	const cJSON *root;
	struct buf out;
	must(a->lent.cpu_milli >= 0 && a->lent.memory_bytes >= 0);
	must(!a->degraded || (a->lent.cpu_milli == 0 && a->lent.memory_bytes == 0));
	must(!a->degraded == !(*a->reason && a->enabled));
	buf_init(&out, 1 << 22);
	report_account(a, true, NOW, &plain, &out);
	must(!out.failed);
	check_text(buf_text(&out));
	buf_reset(&out);
	report_account_json(a, true, NOW, &out);
	must(!out.failed && json_parse(json, buf_slice(&out), &root, NULL) == 0);
	must(json_object(root, "terms"));
	buf_done(&out);
	json_free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot s;
	struct err e = {""};
	snapshot_init(&s);
	int rc = read_all(&s, (struct slice){(const char *)data, size}, &e);
	if (rc < 0) {
		must(*e.text);
		check_text(e.text);
	}
	for (size_t i = 0; rc == 0 && i < s.nnodes; i++) {
		struct account a;
		enum profile p = PROFILE_KOORDINATOR;
		account_make(&s, &s.node[i], NOW, NULL, true, &a);
		check_account(&a);
		account_make(&s, &s.node[i], NOW, &p, false, &a);
		check_account(&a);
	}
	check_text(buf_text(&s.notes));
	snapshot_done(&s);
	return 0;
}
