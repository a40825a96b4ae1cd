#include "test/sim/lent.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/json.h"
#include "controller/wire/decode.h"
#include "controller/wire/patch.h"
#include "test/sim/directives.h"
#include "test/sim/sim.h"
#include "test/unit/wire/json_patch.h"
#include "sluice/keys.h"

#define PREEMPTIBLE (1u << LENDING_NONE | 1u << LENDING_BATCH)
#define PLENTY (INT64_C(1) << 50)

typedef long long ll;

/* ---- Templates -------------------------------------------------------------------------------
 */

static const cJSON *down(const cJSON *o, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(o, key);
}

static void put_requests(const struct snap *n, struct buf *out)
{
	for (size_t i = 0; i < n->container.requests.count; i++) {
		const struct resource *r = &n->container.requests.item[i];
		buf_printf(out, "%s\"%s\":\"%lld%s\"", i ? "," : "", r->name, (ll)r->amount,
			!strcmp(r->name, "cpu") ? "m" : "");
	}
}

static const char *template_of(struct sim *s, const struct snap *n)
{
	struct buf b;
	buf_init(&b, 10000);
	buf_puts(&b, "{\"metadata\":{\"labels\":{\"app\":\"x\"}},\"spec\":{\"containers\":"
		     "[{\"name\":\"main\",\"resources\":{\"requests\":{");
	put_requests(n, &b);
	buf_puts(&b, "}}}]}}");
	const char *text = pool_strdup(&s->pool, buf_text(&b));
	buf_done(&b);
	return text;
}

/* The Job as on the wire, as far as this goes. */
static void put_object(const struct snap *n, struct buf *out)
{
	buf_puts(out, "{\"metadata\":{\"name\":\"x\",\"namespace\":\"y\",\"uid\":"
		      "\"123e4567-e89b-12d3-a456-426614174000\",\"labels\":{"
		      "\"sluice.dev/queue-name\":\"q\",\"sluice.dev/preemptible\":\"true\"},"
		      "\"annotations\":{");
	if (n->directives) {
		buf_puts(out, "\"" DIRECTIVES_ANNOTATION "\":");
		buf_json_string(out, n->directives);
	}
	buf_printf(out, "}},\"spec\":{\"template\":%s}}", n->template);
}

static int64_t own_amount(const struct snap *n, const char *resource)
{
	for (size_t i = 0; i < n->container.requests.count; i++)
		if (!strcmp(n->container.requests.item[i].name, resource))
			return n->container.requests.item[i].amount;
	return -1;
}

static void check_known(struct sim *s, const struct snap *n, const struct job *read)
{
	struct resource all[8];
	size_t count = pod_requests(&read->pod, all, 8);
	if (read->invalid)
		sim_break(s, "P2", "%s: its template is read as '%s'; it is %s, kept is %s",
			n->job.name, read->invalid, n->template, n->directives);
	for (size_t i = 0; i < count && i < 8; i++)
		if (own_amount(n, all[i].name) != all[i].amount)
			sim_break(s, "P2",
				"%s: its owner asks for %lld of %s, read is %lld; its template is "
				"%s, kept is %s",
				n->job.name, (ll)own_amount(n, all[i].name), all[i].name,
				(ll)all[i].amount, n->template, n->directives);
	if (count != n->container.requests.count)
		sim_break(s, "P2", "%s: %zu requests are read of %s", n->job.name, count,
			n->template);
}

/* What is told of it follows from its template and its annotation alone. */
static void read_back(struct sim *s, struct snap *n)
{
	struct buf b;
	const cJSON *root;
	struct job *read;
	struct err e = {""};
	struct json *tree = json_new(1 << 20);
	buf_init(&b, 1 << 20);
	put_object(n, &b);
	must(json_parse(tree, buf_slice(&b), &root, &e) == 0);
	must(decode_job(root, NULL, &read, &e) == 0);
	check_known(s, n, read);
	directives_keep(s, n, read);
	n->job.lending = read->lending;
	n->job.resources = pool_strdup(&s->pool, read->resources);
	free(read);
	json_free(tree);
	buf_done(&b);
}

void lent_draw(struct sim *s, struct snap *n)
{
	if (!s->lent.on || !rng_odds(&s->rng, 6000))
		return;
	n->template = template_of(s, n);
	/* Owners of preemptible Jobs make them smaller. */
	if (n->job.parallelism > 1 && rng_odds(&s->rng, 6000))
		n->job.min_parallelism = (int32_t)rng_between(&s->rng, 1, n->job.parallelism - 1);
	read_back(s, n);
}

/* kubectl replace, or kubectl apply, which adds what it misses beside what it does not know. */
void lent_edit(struct sim *s, struct snap *n)
{
	if (!n->template)
		return;
	bool replaced = rng_odds(&s->rng, 5000);
	const char *own = template_of(s, n);
	if (replaced || !strstr(n->template, "batch-")) {
		n->template = own;
	} else {
		cJSON *o = cJSON_Parse(n->template), *wanted = cJSON_Parse(own);
		cJSON *c = cJSON_GetArrayItem(down(down(o, "spec"), "containers"), 0);
		cJSON *to = cJSON_GetObjectItem(cJSON_GetObjectItem(c, "resources"), "requests");
		const cJSON *from =
			down(down(cJSON_GetArrayItem(down(down(wanted, "spec"), "containers"), 0),
				     "resources"),
				"requests");
		/* What an earlier one had. */
		cJSON_DeleteItemFromObjectCaseSensitive(to, "gpu");
		cJSON_DeleteItemFromObjectCaseSensitive(to, "cpu");
		cJSON_DeleteItemFromObjectCaseSensitive(to, "memory");
		json_each(r, from)
			cJSON_AddItemToObject(to, r->string, cJSON_Duplicate(r, true));
		/* Its manifest said memory before and does not any more: so that is taken away. */
		if (own_amount(n, "memory") < 0) {
			cJSON_DeleteItemFromObjectCaseSensitive(to, "kubernetes.io/batch-memory");
			cJSON_DeleteItemFromObjectCaseSensitive(
				cJSON_GetObjectItem(cJSON_GetObjectItem(c, "resources"), "limits"),
				"kubernetes.io/batch-memory");
		}
		char *text = cJSON_PrintUnformatted(o);
		n->template = pool_strdup(&s->pool, text);
		free(text);
		cJSON_Delete(o);
		cJSON_Delete(wanted);
		sim_reach(s, PATH_LENT_APPLIED);
	}
	read_back(s, n);
}

const char *lent_render(struct sim *s, const struct intent *i)
{
	struct buf b;
	const struct model_job *j = model_api_by_uid(&s->api, &i->uid);
	if (!s->lent.on || i->kind != INTENT_START || !j || !j->now->template)
		return NULL;
	buf_init(&b, PATCH_MAX_BYTES);
	patch_render(i, &b);
	must(!b.failed);
	const char *text = pool_strdup(&s->pool, buf_text(&b));
	buf_done(&b);
	return text;
}

/* The part of a patch that speaks of the template and of what is kept of it. */
static bool concerns(const cJSON *op)
{
	const char *path = down(op, "path")->valuestring;
	return !strncmp(path, "/spec/template", 14) || strstr(path, "original-directives");
}

/* NULL: it is of another template than there is by now. */
static cJSON *patched(const struct sim *s, const struct snap *n, const char *patch)
{
	bool applies = true;
	struct buf b;
	buf_init(&b, 1 << 20);
	put_object(n, &b);
	cJSON *o = cJSON_Parse(buf_text(&b)), *ops = cJSON_Parse(patch);
	buf_done(&b);
	must(o && ops);
	json_each(op, ops) {
		bool left_out = s->o.bug == BUG_RESOURCES_KEPT &&
				strstr(down(op, "path")->valuestring, "/resources");
		if (concerns(op) && !left_out)
			applies = applies && apply_op(o, op);
	}
	cJSON_Delete(ops);
	if (!applies)
		cJSON_Delete(o);
	return applies ? o : NULL;
}

static const cJSON *resources_of(const cJSON *template)
{
	return down(cJSON_GetArrayItem(down(down(template, "spec"), "containers"), 0), "resources");
}

static bool runs_idle(const struct model_run *run)
{
	for (size_t i = 0; run && i < run->nlines; i++)
		if (!strcmp(run->line[i].flavor, flavor_names[IDLE_FLAVOR]))
			return true;
	return false;
}

static bool asks(const cJSON *resources, const char *map, const char *name, int64_t amount)
{
	const cJSON *value = down(down(resources, map), name);
	return amount < 0 ? !value : value && atoll(value->valuestring) == amount;
}

/* In plain arithmetic. text: the template. */
static void check_started(
	struct sim *s, const struct snap *n, const cJSON *template, const char *text)
{
	const cJSON *r = resources_of(template);
	const cJSON *label =
		down(down(down(template, "metadata"), "labels"), "koordinator.sh/qosClass");
	cJSON *own = cJSON_Parse(template_of(s, n));
	bool idle = runs_idle(n->run), right;
	if (idle)
		right = asks(r, "requests", "kubernetes.io/batch-cpu", own_amount(n, "cpu")) &&
			asks(r, "limits", "kubernetes.io/batch-cpu", own_amount(n, "cpu")) &&
			asks(r, "requests", "kubernetes.io/batch-memory",
				own_amount(n, "memory")) &&
			asks(r, "requests", "gpu", own_amount(n, "gpu")) &&
			asks(r, "requests", "cpu", -1) && asks(r, "requests", "memory", -1) &&
			label && !strcmp(label->valuestring, "BE");
	else
		right = cJSON_Compare(r, resources_of(own), true) && !label;
	if (!right)
		sim_break(s, "P2", "%s was started in %s room and asks for %s", n->job.name,
			idle ? "idle" : "ordinary", text);
	sim_reach(s, idle ? PATH_LENT_START : PATH_LENT_BACK);
	cJSON_Delete(own);
}

bool lent_takes(const struct sim *s, const struct model_job *j, const char *patch)
{
	if (!patch || !s->lent.old_server)
		return true;
	cJSON *was = cJSON_Parse(j->now->template), *o = patched(s, j->now, patch);
	if (!o) {
		cJSON_Delete(was);
		return true; /* what else it tests refuses it */
	}
	bool same = cJSON_Compare(
		resources_of(was), resources_of(down(down(o, "spec"), "template")), true);
	cJSON_Delete(was);
	cJSON_Delete(o);
	return same;
}

void lent_apply(struct sim *s, struct snap *n, const char *patch)
{
	if (!patch || !n->template)
		return;
	cJSON *o = patched(s, n, patch);
	must(o);
	const cJSON *template = down(down(o, "spec"), "template");
	const cJSON *kept = down(down(down(o, "metadata"), "annotations"), DIRECTIVES_ANNOTATION);
	char *text = cJSON_PrintUnformatted(template);
	check_started(s, n, template, text);
	directives_check(s, n, template);
	n->template = pool_strdup(&s->pool, text);
	n->directives = pool_strdup(&s->pool, kept->valuestring);
	free(text);
	cJSON_Delete(o);
	read_back(s, n);
}

/* ---- What is lent ----------------------------------------------------------------------------
 */

/* All nominal quota of queues that have some in the flavor. */
static int64_t nominal_sum(const struct sim *s, const char *resource)
{
	int64_t sum = 0;
	for (int k = 0; k < 2; k++) {
		enum config_kind kind = k ? CONFIG_CLUSTERQUEUE : CONFIG_COHORT;
		for (size_t i = 0; i < config_count(kind); i++) {
			struct quota_row_of r = {
				&s->people.config[kind][i], flavor_names[IDLE_FLAVOR], resource};
			sum += quota_nominal(&r);
		}
	}
	return sum;
}

static int64_t used(const struct sim *s, const char *resource)
{
	const struct model_reservation *const *holds;
	int64_t sum = 0;
	for (size_t i = model_ledger_reservations(s->ledger, &holds); i-- > 0;)
		for (size_t k = 0; holds[i]->open && k < holds[i]->reservation.nlines; k++) {
			const struct quota_line *l = &holds[i]->reservation.lines[k];
			if (!strcmp(l->flavor, flavor_names[IDLE_FLAVOR]) &&
				!strcmp(l->resource, resource))
				sum += l->amount;
		}
	return sum;
}

/* From one Job after the other, until what runs fits. */
static void take_back(struct sim *s, struct replica *r, int64_t over)
{
	for (struct model_job *j = s->api.first; j && over > 0; j = j->next) {
		const struct snap *n = j->now;
		int32_t pods = job_pods(&n->job);
		if (n->gone || n->job.suspend || !n->run || n->run->outside || pods == 0 ||
			!runs_idle(n->run) || rng_odds(&s->rng, 3000))
			continue;
		int32_t least = n->job.min_parallelism;
		int32_t left = least > 0 && least < pods && rng_odds(&s->rng, 7000)
				       ? (int32_t)rng_between(&s->rng, least, pods - 1)
				       : 0;
		if (!queue_reclaim_job(r->queue, &n->job.uid, left, "the night is over"))
			continue;
		over -= (pods - left) * own_amount(n, "cpu");
	}
}

static void tell(struct sim *s, struct replica *r, void *arg)
{
	(void)arg;
	int64_t cpu = nominal_sum(s, "cpu"), memory = nominal_sum(s, "memory");
	struct idle_pool pool = {flavor_names[IDLE_FLAVOR],
		cpu / 1000 * s->lent.permille + cpu % 1000 * s->lent.permille / 1000,
		memory / 1000 * s->lent.permille + memory % 1000 * s->lent.permille / 1000, PLENTY,
		PLENTY};
	queue_set_idle_pool(r->queue, &pool);
	int64_t over = used(s, "cpu") - pool.cpu_milli;
	if (over <= 0 && rng_odds(&s->rng, 3000))
		over = 1; /* on one node more is lent than it has, whatever the others do */
	if (!s->calm && gate_leading(r->gate))
		take_back(s, r, over);
	replica_step_soon(s, r);
}

static void lender_looks(struct sim *s, void *arg)
{
	for (size_t i = 0; i < s->nreplicas; i++)
		if (s->replica[i].up)
			replica_at(s, &s->replica[i], s->now_ms, tell, NULL);
	sim_after(s, rng_between(&s->rng, 500, s->calm ? 30000 : 3000), lender_looks, arg);
}

static void load_moves(struct sim *s, void *arg)
{
	if (s->calm)
		return;
	s->lent.permille = rng_odds(&s->rng, 3000)   ? 0
			   : rng_odds(&s->rng, 5000) ? 1000
						     : rng_between(&s->rng, 0, 1000);
	sim_log(s, "lender lends %lld of 1000", (ll)s->lent.permille);
	sim_after(s, rng_between(&s->rng, 2000, 40000), load_moves, arg);
}

void lent_begin(struct sim *s)
{
	s->lent.on = rng_odds(&s->rng, 4000) && !s->o.cluster;
	if (!s->lent.on)
		return;
	s->lent.permille = 1000;
	s->lent.old_server = rng_odds(&s->rng, 1500);
	lender_looks(s, NULL);
	load_moves(s, NULL);
}

void lent_calm(struct sim *s)
{
	s->lent.permille = 1000;
	if (s->lent.on)
		lender_looks(s, NULL);
}

bool lent_suits(const struct sim *s, const struct model_job *j, size_t flavor)
{
	if (!s->lent.on || flavor != IDLE_FLAVOR)
		return true;
	return j->now->template && !s->lent.old_server &&
	       (j->now->job.lending & 1 << LENDING_BATCH);
}
