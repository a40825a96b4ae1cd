#include "controller/answers/api.h"

#include <inttypes.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/span.h"
#include "controller/answers/job_query.h"

#define TEXT "text/plain; charset=utf-8"
#define JSON "application/json"
#define INDEX_PATH "/api" /* "/" is the page */
#define OLD_PREFIX "/api/v1/"

bool api_is_probe(const char *path)
{
	return strcmp(path, "/healthz") == 0 || strcmp(path, "/readyz") == 0;
}

static bool is_old(const char *path)
{
	return strncmp(path, OLD_PREFIX, strlen(OLD_PREFIX)) == 0;
}

/* ---- who may ask ----------------------------------------------------------------------------- */

struct http_rights api_rights(const char *path)
{
	return (struct http_rights){.open = api_is_probe(path) || is_old(path),
		.must = {"get", "sluice.dev", "clusterqueues", ""}};
}

void api_refusal(const struct right *r, struct buf *out)
{
	buf_puts(out, "this user may not ");
	right_describe(r, out);
	if (strcmp(r->verb, "impersonate") == 0) {
		buf_puts(out,
			": leave out the headers X-Remote-User and X-Remote-Group, or bind the ClusterRole sluice-page-proxy to the proxy that sends them");
		return;
	}
	/* Advice is for no more than was missing: what is of one namespace is given there. */
	if (r->ns[0])
		buf_puts(out,
			"; bind the ClusterRole sluice-batch-user in that namespace (by a RoleBinding)");
	else if (strcmp(r->resource, "whatifs") == 0)
		buf_puts(out,
			"; bind a ClusterRole with that right by a ClusterRoleBinding: kubectl create clusterrole sluice-whatifs --verb=list --resource=whatifs.visibility.sluice.dev");
	else
		buf_puts(out, "; bind the ClusterRole sluice-viewer by a ClusterRoleBinding");
}

/* ---- health ---------------------------------------------------------------------------------- */

/* Returns for how long Jobs have not been followed; 0: they are, or have been of late. */
static int64_t jobs_stalled_ms(const struct metrics_sources *m)
{
	for (size_t i = 0; i < m->nkinds; i++)
		if (strcmp(m->kinds[i].name, "jobs") == 0 &&
			m->kinds[i].stalled_ms >= KIND_STALLED_MS)
			return m->kinds[i].stalled_ms;
	return 0;
}

static void put_stalled(const struct metrics_sources *m, struct buf *out)
{
	for (size_t i = 0; i < m->nkinds; i++)
		if (m->kinds[i].stalled_ms >= KIND_STALE_MS)
			buf_printf(out,
				"- has not been able to follow %s for %s: what it knows of them is as old (watch-trouble in the log says why)\n",
				m->kinds[i].name, span_short(m->kinds[i].stalled_ms).s);
}

static void put_mass_stop(const struct gate *g, struct buf *out)
{
	struct gate_mass_stop m;
	if (gate_mass_stop(g, &m))
		buf_printf(out,
			"- mass stop: %zu of %zu running Jobs have no reservation in the ledger; they are stopped in %s, and nothing starts until then (--mass-stop-after)\n",
			m.jobs, m.running, span_short(m.left_ms).s);
}

static void put_settling(const struct gate *g, struct buf *out)
{
	int64_t left_ms;
	if (gate_settling(g, &left_ms))
		buf_printf(out,
			"- the ledger failed over or was restored: nothing starts for another %s (--settle-after-failover)\n",
			span_short(left_ms).s);
}

static struct http_reply ready(const struct api_sources *s, struct buf *out)
{
	put_stalled(&s->metrics, out);
	put_settling(s->metrics.gate, out);
	put_mass_stop(s->metrics.gate, out);
	if (*s->denied)
		buf_printf(out,
			"- does without what its role does not let it read: %s (kubectl apply -k deploy/rbac)\n",
			s->denied);
	return (struct http_reply){200, TEXT};
}

/* Tells whether this controller is ready: it can serve, or take over at once. A body that begins
 * with "leading" is the leader's. */
static struct http_reply answer_ready(const struct api_sources *s, struct buf *out)
{
	const struct metrics_sources *m = &s->metrics;
	const char *holder = s->leadership.lease.holder;
	bool warm = m->synced && m->ledger_up && !s->stopping && jobs_stalled_ms(m) == 0;
	if (warm && gate_leading(m->gate)) {
		buf_printf(out, "leading: epoch %" PRId64 ", cell %s, as %s\n", gate_epoch(m->gate),
			s->cell, s->identity);
		return ready(s, out);
	}
	if (warm) {
		buf_puts(out, "standby: everything is read and the ledger is connected; ");
		if (holder[0])
			buf_printf(out, "the lease of cell %s is held by %s\n", s->cell, holder);
		else
			buf_printf(
				out, "who holds the lease of cell %s is not known yet\n", s->cell);
		return ready(s, out);
	}
	buf_puts(out, "not ready\n");
	if (s->stopping)
		buf_puts(out, "- it was told to stop\n");
	if (!m->synced)
		buf_printf(out, "- not all lists have been read from the API server; missing: %s\n",
			s->waiting_for);
	if (!m->ledger_up)
		buf_printf(out,
			"- the ledger is not connected: running Jobs go on, nothing new starts (%s)\n",
			s->ledger_trouble[0] ? s->ledger_trouble : "connecting");
	if (m->synced)
		put_stalled(m, out);
	return (struct http_reply){503, TEXT};
}

/* ---- what was below /api/v1 ------------------------------------------------------------------ */

/* Says where to ask now, for one version: scripts and an older sluice read it. */
static struct http_reply answer_old(const char *path, struct buf *out)
{
	static const struct {
		const char *was, *is;
	} rows[] = {
		{"queues", "queuereports"},
		{"jobs", "namespaces/NAMESPACE/queuedjobs/NAME"},
		{"week", "clusterqueues/NAME/week"},
		{"usage", "clusterqueues/NAME/usage"},
		{"budgets", "budgetreports"},
		{"decisions", "decisions, or namespaces/NAMESPACE/decisions"},
		{"cost", "costs, or namespaces/NAMESPACE/costs"},
		{"overcommit", "overcommits, or overcommits/NODE"},
	};
	const char *word = path + strlen(OLD_PREFIX), *is = "";
	size_t len = strcspn(word, "/");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strlen(rows[i].was) == len && strncmp(rows[i].was, word, len) == 0)
			is = rows[i].is;
	struct json_writer w = json_writer_object(out);
	jw_textf(&w, "error",
		"what was below /api/v1 is gone. Ask for " VISIBILITY_ROOT
		"/%s here or at the API server, or use a sluice of this version: docs/upgrade.md",
		is);
	jw_close(&w);
	buf_putc(out, '\n');
	return (struct http_reply){410, JSON};
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct http_reply answer_index(const struct api_sources *s, struct buf *out)
{
	buf_printf(out,
		"sluice-controller %s, cell %s, as %s\n\n/healthz\n/readyz\n/metrics\n" VISIBILITY_ROOT
		"\n",
		SLUICE_VERSION, s->cell, s->identity);
	return (struct http_reply){200, TEXT};
}

struct http_reply api_answer(const struct api_sources *s, const char *path, struct buf *out)
{
	if (strcmp(path, "/healthz") == 0) {
		buf_puts(out, "ok\n");
		return (struct http_reply){200, TEXT};
	}
	if (strcmp(path, "/readyz") == 0)
		return answer_ready(s, out);
	if (strcmp(path, "/metrics") == 0) {
		metrics_render(&s->metrics, out);
		return (struct http_reply){200, METRICS_CONTENT_TYPE};
	}
	if (strcmp(path, INDEX_PATH) == 0)
		return answer_index(s, out);
	if (is_old(path))
		return answer_old(path, out);
	struct json_writer w = json_writer_object(out);
	jw_text(&w, "error", "there is nothing at this path; " INDEX_PATH " lists what there is");
	jw_close(&w);
	buf_putc(out, '\n');
	return (struct http_reply){404, JSON};
}
