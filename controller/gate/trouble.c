#include "controller/gate/trouble.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/slice.h"
#include "controller/common/server_words.h"
#include "base/span.h"

enum {
	REFUSAL_FRESH_MS = 600000, /* twice as long as the Job controller's Events are apart */
	SECOND_MS = 1000,	   /* times on the wire have whole seconds */
	/* With the default of --stuck-after these are 5 and 10 min. In 5 min a scheduler gets
	 * through a backlog of tens of thousands. In 10 min a kubelet has given up on a volume four
	 * times (2 min each), or pulled an image of tens of gigabytes. */
	UNSEEN_PATIENCE = 30,
	CREATING_PATIENCE = 60,
};

/* ---- words ----------------------------------------------------------------------------------- */

static const struct word {
	const char *name;
	enum trouble_word same; /* the word that counts for words that say the same; 0: this one */
	const char *what;	/* what its pods cannot do: "be scheduled" */
	const char *cure;
	int32_t patience; /* 0: 1 */
} words[TROUBLE_WORDS] = {
	[TROUBLE_NONE] = {"", 0, "", ""},
	[TROUBLE_PODS_REFUSED] = {"PodsRefused", 0, "be created",
		"change what the message names; the Job controller goes on trying"},
	[TROUBLE_UNSCHEDULABLE] = {"Unschedulable", 0, "be scheduled",
		"free or add nodes, or change what the pods ask for; with clusterFit: Now on its ClusterQueue it would wait until nodes have room"},
	[TROUBLE_SCHEDULING_GATED] = {"SchedulingGated", 0, "pass a scheduling gate",
		"the controller that the schedulingGates in the pod template are for has to take them off its pods"},
	[TROUBLE_INVALID_IMAGE_NAME] = {"InvalidImageName", 0, "run an image of that name",
		"correct the image in the pod template"},
	[TROUBLE_ERR_IMAGE_NEVER_PULL] = {"ErrImageNeverPull", 0, "run an image they may not pull",
		"correct imagePullPolicy or the image, or bring the image to the nodes"},
	[TROUBLE_ERR_IMAGE_PULL] = {"ErrImagePull", 0, "pull an image",
		"correct the image or imagePullSecrets in the pod template, or see to the registry"},
	[TROUBLE_IMAGE_PULL_BACK_OFF] = {"ImagePullBackOff", TROUBLE_ERR_IMAGE_PULL,
		"pull an image",
		"correct the image or imagePullSecrets in the pod template, or see to the registry"},
	[TROUBLE_IMAGE_INSPECT_ERROR] = {"ImageInspectError", 0, "use an image",
		"see to the image, and to the node"},
	[TROUBLE_CREATE_CONTAINER_CONFIG_ERROR] = {"CreateContainerConfigError", 0,
		"have a container configured",
		"create the ConfigMap or Secret that the message names, or correct the pod template"},
	[TROUBLE_CREATE_CONTAINER_ERROR] = {"CreateContainerError", 0, "have a container created",
		"correct the pod template, or see to the node"},
	[TROUBLE_RUN_CONTAINER_ERROR] = {"RunContainerError", 0, "have a container started",
		"correct the command in the pod template, or see to the node"},
	[TROUBLE_CRASH_LOOP_BACK_OFF] = {"CrashLoopBackOff", 0, "get past an init container",
		"read the log of that container: kubectl logs POD -c CONTAINER"},
	[TROUBLE_NOT_SEEN_BY_SCHEDULER] = {"NotSeenByScheduler", 0, "be scheduled",
		"run the scheduler that schedulerName of the pod template names, or name another; of one that runs, read the log",
		UNSEEN_PATIENCE},
	[TROUBLE_CONTAINER_CREATING] = {"ContainerCreating", 0, "start on their nodes",
		"the Events of the pod say what its node waits for, such as a volume: kubectl describe pod POD",
		CREATING_PATIENCE},
};

const char *trouble_name(enum trouble_word w)
{
	return w < TROUBLE_WORDS ? words[w].name : "";
}

enum trouble_word trouble_named(const char *reason)
{
	for (enum trouble_word w = TROUBLE_UNSCHEDULABLE;
		reason && w <= TROUBLE_CRASH_LOOP_BACK_OFF; w++)
		if (strcmp(words[w].name, reason) == 0)
			return w;
	return TROUBLE_NONE;
}

int32_t trouble_patience(enum trouble_word w)
{
	return w < TROUBLE_WORDS && words[w].patience > 0 ? words[w].patience : 1;
}

static enum trouble_word kind_of(enum trouble_word w)
{
	return words[w].same != TROUBLE_NONE ? words[w].same : w;
}

bool trouble_same(enum trouble_word a, enum trouble_word b)
{
	return kind_of(a) == kind_of(b);
}

const char *trouble_cure(enum trouble_word w, const char *message)
{
	if (w == TROUBLE_PODS_REFUSED && message &&
		server_says(slice_of(message), SERVER_QUOTA_EXCEEDED))
		return "other pods took the quota: raise the ResourceQuota, or free what uses it";
	return w < TROUBLE_WORDS ? words[w].cure : "";
}

/* ---- Jobs with troubles ---------------------------------------------------------------------- */

struct pod {
	struct uid uid;
	struct patient *patient;
	struct pod *prev, *next; /* of the same Job */
	int64_t pending_ms, since_ms;
	int64_t seen_ms, word_ms; /* when pod and word were heard of first, by tick_ms */
	uint64_t in_list;
	enum trouble_word word;
};

/* A pod that a Job was refused. */
struct refusal {
	int64_t first_ms, last_ms;
	char *message;
};

struct patient {
	struct uid job;
	struct pod *pods;
	struct refusal refusal; /* message NULL: none */
	/* The last message with each word. */
	struct saying {
		struct saying *next;
		enum trouble_word word;
		size_t pods; /* pods with that word */
		char *message;
	} * sayings;
};

struct troubles {
	struct map pods;     /* by uid */
	struct map patients; /* by the Job's uid */
	uint64_t list;
};

static bool pod_has_uid(const void *value, const void *key)
{
	return uid_cmp(&((const struct pod *)value)->uid, key) == 0;
}

static bool patient_has_uid(const void *value, const void *key)
{
	return uid_cmp(&((const struct patient *)value)->job, key) == 0;
}

struct troubles *troubles_new(void)
{
	struct troubles *t = mem_alloc(sizeof(*t));
	map_init(&t->pods, pod_has_uid);
	map_init(&t->patients, patient_has_uid);
	return t;
}

static struct patient *find_patient(const struct troubles *t, const struct uid *job)
{
	return map_get(&t->patients, uid_hash(job), job);
}

static struct patient *want_patient(struct troubles *t, const struct uid *job)
{
	struct patient *p = find_patient(t, job);
	if (p)
		return p;
	p = mem_alloc(sizeof(*p));
	p->job = *job;
	map_put(&t->patients, uid_hash(job), p);
	return p;
}

/* Forgets a Job of which nothing is left to say. */
static void discharge(struct troubles *t, struct patient *p)
{
	if (p->pods || p->refusal.message)
		return;
	map_take(&t->patients, uid_hash(&p->job), &p->job);
	free(p);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static struct saying **saying_of(struct patient *p, enum trouble_word w)
{
	struct saying **at = &p->sayings;
	while (*at && (*at)->word != w)
		at = &(*at)->next;
	return at;
}

static const char *said(const struct patient *p, enum trouble_word w)
{
	for (const struct saying *s = p->sayings; s; s = s->next)
		if (s->word == w)
			return s->message;
	return "";
}

/* Copies at most TROUBLE_MESSAGE_MAX bytes, and no part of a character. */
static char *keep_message(const char *text)
{
	return mem_strndup(text, slice_cut(text, TROUBLE_MESSAGE_MAX));
}

static void say(struct patient *p, enum trouble_word w, const char *message)
{
	struct saying **at = saying_of(p, w);
	if (!*at) {
		*at = mem_alloc(sizeof(**at));
		(*at)->word = w;
		(*at)->message = keep_message("");
	}
	(*at)->pods++;
	if (!message || !*message || strcmp(message, (*at)->message) == 0)
		return;
	free((*at)->message);
	(*at)->message = keep_message(message);
}

static void unsay(struct patient *p, enum trouble_word w)
{
	struct saying **at = saying_of(p, w), *s = *at;
	if (!s || --s->pods > 0)
		return;
	*at = s->next;
	free(s->message);
	free(s);
}

/* ---- pods ------------------------------------------------------------------------------------ */

static void pod_out(struct troubles *t, struct pod *x)
{
	struct patient *p = x->patient;
	map_take(&t->pods, uid_hash(&x->uid), &x->uid);
	*(x->prev ? &x->prev->next : &p->pods) = x->next;
	if (x->next)
		x->next->prev = x->prev;
	if (x->word != TROUBLE_NONE)
		unsay(p, x->word);
	free(x);
	discharge(t, p);
}

static struct pod *pod_in(struct troubles *t, const struct trouble_pod *fact, int64_t tick_ms)
{
	struct patient *p = want_patient(t, &fact->job);
	struct pod *x = mem_alloc(sizeof(*x));
	x->uid = fact->uid;
	x->patient = p;
	x->seen_ms = tick_ms;
	x->next = p->pods;
	if (p->pods)
		p->pods->prev = x;
	p->pods = x;
	map_put(&t->pods, uid_hash(&x->uid), x);
	return x;
}

void troubles_see_pod(struct troubles *t, const struct trouble_pod *fact, int64_t tick_ms)
{
	struct pod *x = map_get(&t->pods, uid_hash(&fact->uid), &fact->uid);
	if (x && (fact->deleting || uid_cmp(&x->patient->job, &fact->job) != 0)) {
		pod_out(t, x);
		x = NULL;
	}
	if (fact->deleting)
		return;
	if (!x)
		x = pod_in(t, fact, tick_ms);
	enum trouble_word before = x->word;
	if (fact->word != TROUBLE_NONE)
		say(x->patient, fact->word, fact->message);
	if (before != TROUBLE_NONE)
		unsay(x->patient, before);
	if (before != fact->word)
		x->word_ms = tick_ms;
	x->word = fact->word;
	x->pending_ms = fact->pending_ms;
	x->since_ms = fact->since_ms;
	x->in_list = t->list;
}

void troubles_lose_pod(struct troubles *t, const struct uid *pod)
{
	struct pod *x = map_get(&t->pods, uid_hash(pod), pod);
	if (x)
		pod_out(t, x);
}

void troubles_begin_pods(struct troubles *t)
{
	t->list++;
}

/* The pods are collected first: the map moves what it holds when something is taken out. */
void troubles_end_pods(struct troubles *t)
{
	struct pod **gone = mem_array(t->pods.count + 1, sizeof(struct pod *)), *x;
	size_t n = 0;
	map_each(&t->pods, i, x)
		if (x->in_list != t->list)
			gone[n++] = x;
	while (n > 0)
		pod_out(t, gone[--n]);
	free(gone);
}

size_t troubles_pods(const struct troubles *t)
{
	return t->pods.count;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void forget_refusal(struct patient *p)
{
	free(p->refusal.message);
	p->refusal = (struct refusal){0};
}

/* Tells whether it is a Conflict, as of a ResourceQuota that counts several pods at once: the Job
 * controller asks again by itself. */
static bool asks_again(const char *message)
{
	static const char conflict[] = "Operation cannot be fulfilled on ";
	return strncmp(message, conflict, sizeof(conflict) - 1) == 0;
}

/* Each pod has a name of its own, so there are several Events: the newest is quoted, the first
 * tells since when. An Event before a longer gap than between two of them is of another time. */
void troubles_see_refusal(struct troubles *t, const struct trouble_refusal *fact)
{
	if (asks_again(fact->message))
		return;
	struct refusal *r = &want_patient(t, &fact->job)->refusal;
	bool newer = !r->message || fact->last_ms >= r->last_ms;
	int64_t first_ms = fact->first_ms;
	if (r->message && newer && first_ms <= r->last_ms + REFUSAL_FRESH_MS)
		first_ms = r->first_ms < first_ms ? r->first_ms : first_ms;
	if (!newer) {
		if (fact->last_ms >= r->first_ms - REFUSAL_FRESH_MS && first_ms < r->first_ms)
			r->first_ms = first_ms;
		return;
	}
	free(r->message);
	r->message = keep_message(fact->message);
	r->first_ms = first_ms;
	r->last_ms = fact->last_ms;
}

void troubles_forget_refusals(struct troubles *t, const struct uid *job)
{
	struct patient *p = find_patient(t, job);
	if (!p)
		return;
	forget_refusal(p);
	discharge(t, p);
}

/* ---- its end --------------------------------------------------------------------------------- */

static void free_patient(struct patient *p)
{
	for (struct pod *x = p->pods, *next; x; x = next) {
		next = x->next;
		free(x);
	}
	for (struct saying *s = p->sayings, *next; s; s = next) {
		next = s->next;
		free(s->message);
		free(s);
	}
	forget_refusal(p);
	free(p);
}

void troubles_clear(struct troubles *t)
{
	map_free(&t->patients, free_patient);
	map_done(&t->pods);
	map_init(&t->pods, pod_has_uid);
	map_init(&t->patients, patient_has_uid);
}

void troubles_free(struct troubles *t)
{
	if (!t)
		return;
	troubles_clear(t);
	free(t);
}

/* ---- what follows ---------------------------------------------------------------------------- */

static bool is_stuck(const struct pod *x, const struct troubles_ask *a)
{
	int32_t patience = trouble_patience(x->word);
	if (x->word == TROUBLE_NONE)
		return false;
	if (patience > 1)
		return a->now_ms - x->since_ms >= patience * a->after_ms ||
		       a->tick_ms - x->word_ms >= patience * a->after_ms;
	return a->now_ms - x->pending_ms >= a->after_ms || a->tick_ms - x->seen_ms >= a->after_ms;
}

static void count(struct trouble *x, enum trouble_word w, int32_t pods, int64_t since_ms)
{
	if (x->pods == 0 || since_ms < x->since_ms)
		x->since_ms = since_ms;
	x->pods = pods < INT32_MAX - x->pods ? x->pods + pods : INT32_MAX;
	x->word = w > x->word ? w : x->word; /* the last of words that say the same */
}

static void count_refusal(
	const struct refusal *r, const struct troubles_ask *a, struct trouble *ret)
{
	bool of_this_run = r->last_ms >= a->started_ms - SECOND_MS;
	bool fresh = a->now_ms - r->last_ms <= REFUSAL_FRESH_MS;
	if (!r->message || a->missing <= 0 || !of_this_run || !fresh)
		return;
	int64_t since_ms = r->first_ms > a->started_ms ? r->first_ms : a->started_ms;
	count(ret, TROUBLE_PODS_REFUSED, a->missing, since_ms);
}

static bool is_worse(const struct trouble *a, const struct trouble *b)
{
	if (a->pods != b->pods)
		return a->pods > b->pods;
	return a->pods > 0 && a->since_ms < b->since_ms;
}

struct trouble troubles_of(const struct troubles *t, const struct troubles_ask *a)
{
	struct trouble of[TROUBLE_WORDS] = {{0}}, worst = {.message = ""};
	const struct patient *p = find_patient(t, &a->job);
	if (!p)
		return worst;
	for (const struct pod *x = p->pods; x; x = x->next)
		if (is_stuck(x, a))
			count(&of[kind_of(x->word)], x->word, 1, x->since_ms);
	count_refusal(&p->refusal, a, &of[TROUBLE_PODS_REFUSED]);
	for (size_t k = TROUBLE_NONE + 1; k < TROUBLE_WORDS; k++)
		if (is_worse(&of[k], &worst))
			worst = of[k];
	worst.message =
		worst.word == TROUBLE_PODS_REFUSED ? p->refusal.message : said(p, worst.word);
	return worst;
}

/* Begins the sentence. Surplus pods are counted too, for a moment. */
static void put_pods(const struct trouble *x, int32_t of, struct buf *out)
{
	if (of > x->pods)
		buf_printf(out, "%d of its %d pods ", (int)x->pods, (int)of);
	else if (x->pods == 1)
		buf_puts(out, of == 1 ? "its pod " : "one of its pods ");
	else
		buf_printf(out, "all of its %d pods ", (int)x->pods);
}

void trouble_sentence(const struct trouble *x, int32_t of, int64_t now_ms, struct buf *out)
{
	put_pods(x, of, out);
	buf_printf(
		out, "cannot %s, for %s", words[x->word].what, span_short(now_ms - x->since_ms).s);
	if (*x->message)
		buf_printf(out, ": %s", x->message);
}

void trouble_epitaph(const struct trouble *x, int32_t of, int64_t now_ms, struct buf *out)
{
	buf_printf(out, "%s: ", words[x->word].name);
	put_pods(x, of, out);
	buf_printf(out, "could not %s for %s", words[x->word].what,
		span_short(now_ms - x->since_ms).s);
	if (*x->message)
		buf_printf(out, ": %s", x->message);
}
