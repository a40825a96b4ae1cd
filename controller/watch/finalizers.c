#include "controller/watch/finalizers.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/json.h"
#include "controller/common/path.h"
#include "controller/wire/decode.h"
#include "sluice/keys.h"

enum {
	IN_FLIGHT_MAX = 2,
	RETRY_MS = 5000,   /* after a write that failed, when nothing is seen of the object */
	DENIED_MS = 60000, /* after a 403 */
	TIMEOUT_MS = 10000,
	PATCH_MAX_BYTES = 64 * 1024,
};

/* One object. */
struct keep {
	struct finalizers *all;
	enum status_writer_kind kind;
	char *name;
	char *version;
	char *others; /* finalizers but ours, as a JSON array's inside: "a","b" */
	bool has_ours, deleting;
	bool under_way; /* a write of the object is */
	bool takes_off; /* the write takes our finalizer off */
	bool seen;	/* another version was seen since the write */
	bool lost;	/* the object is gone, and is forgotten with the answer */
	int64_t due_ms; /* no write before; 0: at once */
};

struct finalizers {
	struct finalizers_options options;
	struct map keeps;
	unsigned in_flight;
	bool denied; /* a 403 was logged */
	int64_t denied_until_ms, now_ms;
};

struct key {
	enum status_writer_kind kind;
	const char *name;
};

static bool keep_has_key(const void *value, const void *key)
{
	const struct keep *k = value;
	const struct key *wanted = key;
	return k->kind == wanted->kind && strcmp(k->name, wanted->name) == 0;
}

static uint64_t key_hash(const struct key *k)
{
	return map_hash_string(k->name) * 31 + (uint64_t)k->kind;
}

static void keep_free(struct keep *k)
{
	free(k->name);
	free(k->version);
	free(k->others);
	free(k);
}

struct finalizers *finalizers_new(const struct finalizers_options *o)
{
	struct finalizers *f = mem_alloc(sizeof(*f));
	f->options = *o;
	map_init(&f->keeps, keep_has_key);
	return f;
}

void finalizers_free(struct finalizers *f)
{
	if (!f)
		return;
	map_free(&f->keeps, keep_free);
	free(f);
}

/* ---- what the API server has ----------------------------------------------------------------- */

static bool has_finalizer(enum status_writer_kind kind)
{
	return kind == REPORT_CLUSTERQUEUE || kind == REPORT_FLAVOR;
}

static void take_finalizers(struct keep *k, const cJSON *metadata)
{
	struct buf others;
	buf_init(&others, PATCH_MAX_BYTES);
	k->has_ours = false;
	json_each(item, json_array(metadata, "finalizers")) {
		if (!cJSON_IsString(item))
			continue;
		if (strcmp(item->valuestring, FINALIZER) == 0) {
			k->has_ours = true;
			continue;
		}
		if (others.len > 0)
			buf_putc(&others, ',');
		buf_json_string(&others, item->valuestring);
	}
	free(k->others);
	k->others = others.failed ? NULL : buf_take(&others);
	buf_done(&others);
}

void finalizers_see(struct finalizers *f, enum status_writer_kind kind, const struct cJSON *object)
{
	struct key key = {kind, decode_name(object)};
	const cJSON *metadata = json_object(object, "metadata");
	if (!has_finalizer(kind))
		return;
	struct keep *k = map_get(&f->keeps, key_hash(&key), &key);
	if (!k) {
		k = mem_alloc(sizeof(*k));
		k->all = f;
		k->kind = kind;
		k->name = mem_strdup(key.name);
		map_put(&f->keeps, key_hash(&key), k);
	}
	const char *version = json_text(metadata, "resourceVersion");
	free(k->version);
	k->version = mem_strdup(version ? version : "");
	k->deleting = json_text(metadata, "deletionTimestamp") != NULL;
	take_finalizers(k, metadata);
	k->seen = true;
	k->lost = false; /* or made again */
	k->due_ms = 0;
}

static void forget(struct keep *k)
{
	struct key key = {k->kind, k->name};
	must(map_take(&k->all->keeps, key_hash(&key), &key) == k);
	keep_free(k);
}

void finalizers_lose(struct finalizers *f, enum status_writer_kind kind, const char *name)
{
	struct key key = {kind, name};
	struct keep *k = map_get(&f->keeps, key_hash(&key), &key);
	if (!k)
		return;
	k->lost = true;
	if (!k->under_way)
		forget(k);
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool is_in_use(const struct keep *k)
{
	char users[QUEUE_USERS_SIZE];
	const struct queue *q = k->all->options.queue;
	return k->kind == REPORT_CLUSTERQUEUE ? queue_clusterqueue_users(q, k->name, users)
					      : queue_flavor_users(q, k->name, users);
}

/* Whether a write is due. Nothing can be added to an object that is being deleted: without our
 * finalizer it goes without. */
static bool is_due(const struct keep *k)
{
	int64_t now_ms = k->all->now_ms;
	bool early = k->due_ms > now_ms && k->due_ms - now_ms <= RETRY_MS;
	if (k->under_way || early || !k->others || !k->version[0])
		return false;
	return k->deleting ? k->has_ours && !is_in_use(k) : !k->has_ours;
}

static const char *kind_name(const struct keep *k)
{
	return k->kind == REPORT_CLUSTERQUEUE ? "ClusterQueue" : "ResourceFlavor";
}

static const char *plural_of(const struct keep *k)
{
	return k->kind == REPORT_CLUSTERQUEUE ? "clusterqueues" : "resourceflavors";
}

/* Notes a 403, and logs it once, until a write is permitted again. */
static void is_denied(struct finalizers *f, const struct keep *k, const char *sentence)
{
	f->denied_until_ms = f->now_ms + DENIED_MS;
	if (f->denied)
		return;
	f->denied = true;
	log_event(f->options.log, LEVEL_WARN, "finalizers-not-permitted", "kind", kind_name(k),
		"name", k->name, "why", sentence, "effect",
		"a ClusterQueue or ResourceFlavor that is deleted goes at once, also while Jobs use it",
		"cure", "kubectl apply -k deploy/rbac (or deploy/base); no restart is needed",
		NULL);
}

static void has_failed(struct keep *k, const struct kube_answer *a)
{
	struct finalizers *f = k->all;
	if (a->http_status == 403)
		is_denied(f, k, a->sentence);
	else
		log_event(f->options.log, LEVEL_DEBUG, "finalizer-not-written", "kind",
			kind_name(k), "name", k->name, "why", a->sentence, NULL);
}

static void write_due(struct finalizers *f);

static void has_landed(const struct keep *k)
{
	struct finalizers *f = k->all;
	f->denied = false;
	log_event(f->options.log, k->takes_off ? LEVEL_INFO : LEVEL_DEBUG,
		k->takes_off ? "finalizer-off" : "finalizer-on", "kind", kind_name(k), "name",
		k->name, NULL);
}

/* Ends a write. The watch tells the new version, and until then another write would be refused.
 * When a status was written meanwhile, its version has often been seen already. */
static void on_written(const struct kube_answer *a, void *ctx)
{
	struct keep *k = ctx;
	struct finalizers *f = k->all;
	must(f->in_flight > 0);
	f->in_flight--;
	k->under_way = false;
	k->due_ms = k->seen && a->outcome == KUBE_STALE ? 0 : f->now_ms + RETRY_MS;
	if (a->outcome == KUBE_DONE)
		has_landed(k);
	else if (a->outcome != KUBE_GONE)
		has_failed(k, a);
	if (k->lost)
		forget(k);
	write_due(f);
}

static void put_patch(const struct keep *k, struct buf *out)
{
	bool ours = !k->deleting;
	buf_puts(out, "[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":");
	buf_json_string(out, k->version);
	buf_printf(out, "},{\"op\":\"add\",\"path\":\"/metadata/finalizers\",\"value\":[%s%s%s]}]",
		k->others, ours && k->others[0] ? "," : "", ours ? "\"" FINALIZER "\"" : "");
}

static void keep_write(struct keep *k)
{
	struct finalizers *f = k->all;
	struct buf path, body;
	buf_init(&path, PATH_MAX_BYTES);
	buf_init(&body, 2 * PATCH_MAX_BYTES);
	path_format(&path, "/apis/sluice.dev/v1alpha1/%s/%s", plural_of(k), k->name);
	put_patch(k, &body);
	k->under_way = true;
	k->takes_off = k->deleting;
	k->seen = false;
	f->in_flight++;
	struct kube_request request = {
		.method = KUBE_PATCH,
		.path = buf_text(&path),
		.content_type = KUBE_JSON_PATCH,
		.body = buf_slice(&body),
		.timeout_ms = TIMEOUT_MS,
	};
	kube_client_send(f->options.client, &request, on_written, k);
	buf_done(&path);
	buf_done(&body);
}

/* Writes as many as may be under way; each answer goes on here. */
static void write_due(struct finalizers *f)
{
	struct keep *k;
	int64_t denied_ms = f->denied_until_ms - f->now_ms;
	if (f->denied && denied_ms > 0 && denied_ms <= DENIED_MS)
		return;
	map_each(&f->keeps, i, k)
		if (f->in_flight < IN_FLIGHT_MAX && kube_client_room(f->options.client) > 0 &&
			is_due(k))
			keep_write(k);
}

void finalizers_tick(struct finalizers *f, int64_t now_ms)
{
	f->now_ms = now_ms;
	write_due(f);
}
