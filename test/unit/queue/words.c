#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "pieces.h"
#include "words_after.h"
#include "words_cluster.h"
#include "words_idle.h"
#include "words_limits.h"
#include "words_reserve.h"
#include "words_money.h"
#include "words_time.h"

void words_init(struct words *w)
{
	*w = (struct words){.q = queue_new()};
}

void words_done(struct words *w)
{
	queue_free(w->q);
	for (size_t i = 0; i < w->njobs; i++) {
		free(w->job[i].ns);
		for (size_t k = 0; k < w->job[i].n; k++)
			free(w->job[i].word[k]);
	}
	for (size_t i = 0; i < w->nflavors; i++)
		free(w->flavor[i]);
	words_after_done(w);
	piece_drop_all();
}

size_t words_cut(char *line, char *word[WORDS_MAX])
{
	size_t n = 0;
	char *in = line, *out = line;
	while (n < WORDS_MAX) {
		while (*in == ' ' || *in == '\t')
			in++;
		if (!*in)
			break;
		word[n++] = out;
		for (bool quoted = false; *in && (quoted || (*in != ' ' && *in != '\t')); in++) {
			if (*in == '"')
				quoted = !quoted;
			else
				*out++ = *in;
		}
		bool more = *in != '\0';
		*out++ = '\0';
		if (more)
			in++;
	}
	return n;
}

/* Notes that a line tells of the flavor. False: an earlier one did. */
static bool note_flavor(struct words *w, const char *name)
{
	for (size_t i = 0; i < w->nflavors; i++)
		if (strcmp(w->flavor[i], name) == 0)
			return false;
	must(w->nflavors < WORDS_FLAVORS_MAX);
	w->flavor[w->nflavors++] = mem_strdup(name);
	return true;
}

/* "no flavor NAME .." */
static bool tell_no_flavor(struct words *w, char **word, size_t n)
{
	if (strcmp(word[1], "flavor") != 0)
		return piece_wrong(w, "no flavor NAME ..");
	for (size_t i = 2; i < n; i++)
		note_flavor(w, word[i]);
	return true;
}

/* spec.podTemplate of a flavor. */
struct flavor_adds {
	struct label select[8], label[8];
	struct toleration toleration[8];
	struct node_term term[8];
};

/* False: that word is none of podTemplate's. *ok: it was read. */
static bool read_adds(struct words *w, struct flavor_spec *s, struct flavor_adds *a,
	const char *word, char *value, bool *ok)
{
	char *save;
	*ok = true;
	if (strcmp(word, "add-affinity") == 0) {
		for (char *t = strtok_r(value, "|", &save); t; t = strtok_r(NULL, "|", &save))
			*ok = *ok && piece_term(w, t, &a->term[s->adds.nterms++].labels);
		return true;
	}
	if (strncmp(word, "add-", 4) != 0)
		return false;
	for (char *t = strtok_r(value, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		if (strcmp(word, "add-tolerations") == 0) {
			a->toleration[s->adds.ntolerations++] = piece_toleration(t);
			continue;
		}
		struct label l = piece_label(t, '=');
		if (strcmp(word, "add-select") == 0)
			a->select[s->adds.nnode_selector++] = l;
		else
			a->label[s->metadata.nlabels++] = l;
	}
	return true;
}

static bool tell_flavor(struct words *w, char **word, size_t n)
{
	struct flavor_adds adds = {0};
	bool ok;
	struct label label[8];
	struct taint taint[8];
	struct toleration toleration[8];
	struct flavor_spec s = {.name = word[1],
		.nodes = {.labels = label, .taints = taint, .tolerations = toleration},
		.metadata = {.labels = adds.label},
		.adds = {.node_selector = adds.select,
			.tolerations = adds.toleration,
			.terms = adds.term}};
	for (size_t i = 2; i + 1 < n; i += 2) {
		char *save;
		if (words_idle_of_flavor(&s, word[i], word[i + 1]) ||
			words_pool_of_flavor(&s, word[i], word[i + 1]))
			continue;
		if (read_adds(w, &s, &adds, word[i], word[i + 1], &ok)) {
			if (!ok)
				return false;
			continue;
		}
		for (char *t = strtok_r(word[i + 1], ",", &save); t;
			t = strtok_r(NULL, ",", &save)) {
			if (strcmp(word[i], "labels") == 0) {
				label[s.nodes.nlabels++] = piece_label(t, '=');
			} else if (strcmp(word[i], "taints") == 0) {
				enum taint_effect effect = piece_effect(piece_after(t, ':'));
				char *value = piece_after(t, '=');
				taint[s.nodes.ntaints++] =
					(struct taint){t, value ? value : "", effect};
			} else if (strcmp(word[i], "tolerations") == 0) {
				toleration[s.nodes.ntolerations++] = piece_toleration(t);
			} else {
				return piece_wrong(w, "flavor: what is %s?", word[i]);
			}
		}
	}
	note_flavor(w, s.name);
	queue_set_flavor(w->q, &s, &w->refused);
	return true;
}

static bool tell_namespace(struct words *w, char **word, size_t n)
{
	struct label label[WORDS_MAX];
	struct namespace_spec s = {.name = word[1], .labels = label};
	for (size_t i = 2; i < n; i++)
		label[s.nlabels++] = piece_label(word[i], '=');
	queue_set_namespace(w->q, &s);
	return true;
}

static void make_class(struct words *w, const char *name, const char *value)
{
	struct priority_spec s = {.kind = PRIORITY_WORKLOAD, .name = name, .value = atoi(value)};
	queue_set_priority(w->q, &s);
}

static bool tell_class(struct words *w, char **word, size_t n)
{
	if (n < 3)
		return piece_wrong(w, "class NAME VALUE");
	make_class(w, word[1], word[2]);
	return true;
}

static bool tell_podclass(struct words *w, char **word, size_t n)
{
	if (n < 3)
		return piece_wrong(w, "podclass NAME VALUE");
	struct priority_spec s = {.kind = PRIORITY_POD, .name = word[1], .value = atoi(word[2])};
	for (size_t i = 3; i < n; i++) {
		s.global_default = s.global_default || strcmp(word[i], "default") == 0;
		s.never_preempts = s.never_preempts || strcmp(word[i], "never-preempts") == 0;
	}
	queue_set_priority(w->q, &s);
	return true;
}

struct queue_words { /* a ClusterQueue's flavors as they are read */
	struct resource_group_spec group[4];
	struct flavor_quota_spec flavor[16];
	struct quota_spec quota[64];
	const char *resource[64];
	size_t ngroups, nflavors, nquotas;
};

static bool same_resources(const struct flavor_quota_spec *a, const struct flavor_quota_spec *b)
{
	bool same = a->nquotas == b->nquotas;
	for (size_t i = 0; same && i < a->nquotas; i++)
		same = strcmp(a->quotas[i].resource, b->quotas[i].resource) == 0;
	return same;
}

/* Makes the flavors that no line has told of. Those with the same resources, one after the other, are one
 * group. */
static void make_groups(struct words *w, struct queue_words *x)
{
	for (size_t f = 0; f < x->nflavors; f++) {
		const struct flavor_quota_spec *flavor = &x->flavor[f];
		if (note_flavor(w, flavor->flavor))
			queue_set_flavor(w->q, &(struct flavor_spec){.name = flavor->flavor}, NULL);
		if (f > 0 && same_resources(flavor, flavor - 1)) {
			x->group[x->ngroups - 1].nflavors++;
			continue;
		}
		x->group[x->ngroups++] = (struct resource_group_spec){
			x->resource + (flavor->quotas - x->quota), flavor->nquotas, flavor, 1};
	}
}

static bool read_limit(struct words *w, const char *resource, const char *text, int64_t *ret)
{
	return !text || strcmp(text, "-") == 0 || piece_amount(w, resource, text, ret);
}

static bool read_quota(struct words *w, struct queue_words *x, char *word)
{
	char *amount = piece_after(word, '=');
	if (!amount) {
		x->flavor[x->nflavors++] =
			(struct flavor_quota_spec){word, &x->quota[x->nquotas], 0};
		return true;
	}
	if (x->nflavors == 0)
		return piece_wrong(w, "queue: which flavor has %s=%s?", word, amount);
	struct quota_spec *quota = &x->quota[x->nquotas];
	*quota = (struct quota_spec){word, 0, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	x->resource[x->nquotas++] = word;
	x->flavor[x->nflavors - 1].nquotas++;
	char *borrowing = piece_after(amount, '/');
	char *lending = borrowing ? piece_after(borrowing, '/') : NULL;
	return piece_amount(w, word, amount, &quota->nominal) &&
	       read_limit(w, word, borrowing, &quota->borrowing_limit) &&
	       read_limit(w, word, lending, &quota->lending_limit);
}

static enum preemption_policy read_policy(const char *word)
{
	if (strcmp(word, "Any") == 0)
		return PREEMPT_ANY;
	if (strcmp(word, "LowerPriority") == 0)
		return PREEMPT_LOWER_PRIORITY;
	if (strcmp(word, "LowerOrNewerEqualPriority") == 0)
		return PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY;
	return PREEMPT_NEVER;
}

static bool read_preemption(struct preemption_spec *p, const char *word)
{
	const char *value;
	if ((value = piece_value(word, "within"))) {
		p->within_clusterqueue = read_policy(value);
	} else if ((value = piece_value(word, "reclaim"))) {
		p->reclaim_within_cohort = read_policy(value);
	} else if (strcmp(word, "borrow-preempts") == 0) {
		p->borrow_within_cohort = true;
	} else if ((value = piece_value(word, "min-run"))) {
		p->min_run_ms = atoll(value) * 1000;
	} else if ((value = piece_value(word, "borrow-preempts"))) {
		p->borrow_within_cohort = p->has_max_priority = true;
		p->max_priority = atoi(value);
	} else {
		return false;
	}
	return true;
}

static bool read_fungibility(struct fungibility_spec *f, const char *word)
{
	if (strcmp(word, "next-when-borrowing") == 0)
		f->next_when_borrowing = true;
	else if (strcmp(word, "stop-when-preempting") == 0)
		f->stop_when_preempting = true;
	else if (strcmp(word, "prefer-preemption") == 0)
		f->prefer_preemption = true;
	else
		return false;
	return true;
}

static bool read_cap(struct clusterqueue_spec *s, const char *word)
{
	const char *value = piece_value(word, "cap");
	s->has_max_priority = s->has_max_priority || value;
	s->max_priority = value ? atoi(value) : s->max_priority;
	return value != NULL;
}

/* gaps-below=N; gaps-below=none: spec.gapFillers is empty. */
static bool read_gaps(struct clusterqueue_spec *s, const char *word)
{
	const char *value = piece_value(word, "gaps-below");
	if (value)
		s->gap_fillers_below = strcmp(value, "none") == 0 ? GAP_FILLERS_NONE : atoi(value);
	return value != NULL;
}

static bool read_growth(struct clusterqueue_spec *s, const char *word)
{
	const char *value = piece_value(word, "grow-interval");
	if (value)
		s->grow_interval_ms = atoll(value) * 1000;
	else if (strcmp(word, "grow") == 0)
		s->grow_by_default = true;
	else
		return false;
	return true;
}

static bool read_queue_option(
	struct words *w, struct clusterqueue_spec *s, const char *word, bool *ret_known)
{
	*ret_known = true;
	if (strcmp(word, "strict") == 0)
		s->strategy = STRICT_FIFO;
	else if (strcmp(word, "deleting") == 0)
		s->deleting = true;
	else if (strcmp(word, "noselector") == 0)
		s->has_namespace_selector = false;
	else if (piece_value(word, "stop"))
		s->stop_policy = piece_policy(piece_value(word, "stop"));
	else if (piece_value(word, "cohort"))
		s->cohort = piece_value(word, "cohort");
	else if (piece_value(word, "selector"))
		return piece_term(
			w, piece_copy(piece_value(word, "selector")), &s->namespace_selector);
	else if (piece_value(word, "weight"))
		s->weight = atof(piece_value(word, "weight"));
	else if (piece_value(word, "max-run"))
		s->default_max_run_ms = atoll(piece_value(word, "max-run")) * 1000;
	else if (strcmp(word, "backfill") == 0)
		s->strategy = BACKFILL;
	else if (piece_value(word, "backfill")) {
		s->strategy = BACKFILL;
		s->backfill_reservations = atoi(piece_value(word, "backfill"));
	} else if (strcmp(word, "by-usage") == 0)
		s->orders_by_usage = true;
	else
		*ret_known = words_cluster_of_queue(s, word) || read_cap(s, word) ||
			     read_gaps(s, word) || read_growth(s, word) ||
			     read_preemption(&s->preemption, word) ||
			     read_fungibility(&s->fungibility, word);
	return true;
}

static bool tell_cohort(struct words *w, char **word, size_t n)
{
	struct queue_words x = {.ngroups = 0};
	struct cohort_spec s = {.name = word[1],
		.parent = "",
		.groups = x.group,
		.weight = 1,
		.generation = ++w->generation};
	for (size_t i = 2; i < n; i++) {
		if (piece_value(word[i], "parent"))
			s.parent = piece_value(word[i], "parent");
		else if (piece_value(word[i], "weight"))
			s.weight = atof(piece_value(word[i], "weight"));
		else if (!read_quota(w, &x, word[i]))
			return false;
	}
	make_groups(w, &x);
	s.ngroups = x.ngroups;
	queue_set_cohort(w->q, &s, &w->refused);
	return true;
}

/* Before the first fact. */
static bool tell_config(struct words *w, char **word, size_t n)
{
	struct queue_config c;
	queue_config_default(&c);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(word[i], "fair") == 0) {
			c.fair_sharing = true;
		} else if (strcmp(word[i], "final-share-only") == 0) {
			c.nfair_strategies = 1;
		} else if (strcmp(word[i], "initial-share-only") == 0) {
			c.nfair_strategies = 1;
			c.fair_strategy[0] = FAIR_LESS_THAN_INITIAL_SHARE;
		} else if (strcmp(word[i], "victims-as-kueue") == 0) {
			c.victims_as_kueue = true;
		} else if (!words_config(w, &c, word[i])) {
			return piece_wrong(w, "config: what is %s?", word[i]);
		}
	}
	queue_configure(w->q, &c);
	return true;
}

/* Of a queue's word "for=NS/NAME,..": each is a LocalQueue of it. */
static bool tell_locals(struct words *w, const char *clusterqueue, char *names)
{
	char *save;
	for (char *ns = strtok_r(names, ",", &save); ns; ns = strtok_r(NULL, ",", &save)) {
		char *name = piece_after(ns, '/');
		if (!name)
			return piece_wrong(w, "queue %s for=NS/NAME,..", clusterqueue);
		struct localqueue_spec s = {.ns = ns,
			.name = name,
			.clusterqueue = clusterqueue,
			.weight = 1,
			.generation = ++w->generation};
		queue_set_localqueue(w->q, &s, NULL);
	}
	return true;
}

static bool tell_queue(struct words *w, char **word, size_t n)
{
	struct queue_words x = {.ngroups = 0};
	char *locals = NULL;
	struct clusterqueue_spec s = {.name = word[1],
		.cohort = "",
		.groups = x.group,
		.has_namespace_selector = true,
		.weight = 1,
		.generation = ++w->generation};
	for (size_t i = 2; i < n; i++) {
		bool known;
		if (strncmp(word[i], "for=", 4) == 0)
			locals = word[i] + 4;
		else if (!read_queue_option(w, &s, word[i], &known) ||
			 (!known && !read_quota(w, &x, word[i])))
			return false;
	}
	make_groups(w, &x);
	s.ngroups = x.ngroups;
	queue_set_clusterqueue(w->q, &s, &w->refused);
	return !locals || tell_locals(w, s.name, locals);
}

static bool tell_local(struct words *w, char **word, size_t n)
{
	char *name = piece_after(word[1], '/');
	struct label added;
	if (n < 4 || !name || strcmp(word[2], "->") != 0)
		return piece_wrong(w, "local NS/NAME -> QUEUE");
	struct localqueue_spec s = {.ns = word[1],
		.name = name,
		.clusterqueue = word[3],
		.weight = 1,
		.generation = ++w->generation};
	for (size_t i = 4; i < n; i++) {
		const char *value;
		if ((value = piece_value(word[i], "stop"))) {
			s.stop_policy = piece_policy(value);
		} else if ((value = piece_value(word[i], "weight"))) {
			s.weight = atof(value);
		} else if ((value = piece_value(word[i], "max"))) {
			s.limits.max_waiting = atoi(value);
		} else if ((value = piece_value(word[i], "running"))) {
			s.limits.max_running = atoi(value);
		} else if (piece_value(word[i], "add-label")) {
			added = piece_label(piece_after(word[i], '='), ':');
			s.metadata = (struct pod_metadata){.labels = &added, .nlabels = 1};
		} else if (strcmp(word[i], "deleting") == 0) {
			s.deleting = true;
		} else if (!words_of_user_limits(w, &s.limits.per_user, word[i])) {
			return piece_wrong(w, "local: what is %s?", word[i]);
		}
	}
	queue_set_localqueue(w->q, &s, &w->refused);
	return true;
}

struct words_job *words_find_job(struct words *w, const char *ns_name)
{
	for (size_t i = 0; i < w->njobs; i++) {
		const struct words_job *j = &w->job[i];
		size_t n = strlen(j->ns);
		if (strncmp(ns_name, j->ns, n) == 0 && ns_name[n] == '/' &&
			strcmp(ns_name + n + 1, j->name) == 0)
			return &w->job[i];
	}
	piece_wrong(w, "no job %s was named before", ns_name);
	return NULL;
}

const struct words_job *words_job_of(const struct words *w, const struct uid *uid)
{
	for (size_t i = 0; i < w->njobs; i++)
		if (uid_cmp(&w->job[i].uid, uid) == 0)
			return &w->job[i];
	return NULL;
}

struct job_words { /* a Job as it is read */
	struct job job;
	struct resource request[32], limit[32];
	struct container container;
	struct label label[8], own_label[8];
	struct toleration toleration[8];
	struct node_term term[8];
	struct label added;
	char class[32];
	const char *pod; /* its word pod= */
	bool work_queue; /* it has no completions */
};

static bool read_affinity(struct words *w, struct job_words *x, char *text)
{
	char *save;
	for (char *part = strtok_r(text, "|", &save); part; part = strtok_r(NULL, "|", &save))
		if (!piece_term(w, part, &x->term[x->job.placement.nterms++].labels))
			return false;
	return true;
}

static void read_priority(struct words *w, struct job_words *x, const char *value)
{
	snprintf(x->class, sizeof(x->class), "prio%s", value);
	make_class(w, x->class, value);
	x->job.priority_class = x->class;
}

/* Words with a value that are no resource; false: it is a resource. */
static bool read_job_field(struct words *w, struct job_words *x, const char *key, char *value)
{
	struct job *j = &x->job;
	struct job_history *history = &j->admission.history;
	const struct {
		const char *key, **text;
		int32_t *number;
		int64_t *seconds; /* told in seconds, kept in milliseconds */
	} field[] = {{"queue", &j->queue}, {"class", &j->priority_class},
		{"podclass", &j->pod_priority_class}, {"invalid", &j->invalid},
		{"runtime", &j->pod.runtime_class}, {"user", &j->submitted_by}, {"pod", &x->pod},
		{"pods", .number = &j->parallelism}, {"min", .number = &j->min_parallelism},
		{"owner-pods", .number = &j->admission.owner_parallelism},
		{"attempt", .number = &j->admission.attempt},
		{"completions", .number = &j->completions},
		{"succeeded", .number = &j->status.succeeded},
		{"active", .number = &j->status.active}, {"nice", .number = &j->nice},
		{"requeues", .number = &history->requeues},
		{"suspensions", .number = &history->suspensions}, {"at", .seconds = &j->created_ms},
		{"max-run", .seconds = &j->durations.max_run_ms},
		{"stopping-at", .seconds = &j->annotations.stopping_at_ms},
		{"story-at", .seconds = &j->admission.told_ms},
		{"ran", .seconds = &history->ran_ms},
		{"paid", .seconds = &history->reclaims_paid_ms},
		{"evicted", .seconds = &history->evicted_ms}, {"grace", .seconds = &j->grace_ms}};
	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
		if (strcmp(key, field[i].key) != 0)
			continue;
		if (field[i].text)
			*field[i].text = value;
		else if (field[i].number)
			*field[i].number = atoi(value);
		else
			*field[i].seconds = atoll(value) * 1000;
		j->has_completions = j->has_completions || strcmp(key, "completions") == 0;
		return true;
	}
	if (strcmp(key, "prio") == 0)
		read_priority(w, x, value);
	else if (strcmp(key, "version") == 0)
		j->version = atoll(value);
	else if (strcmp(key, "expected") == 0)
		j->durations.expected_ms = words_ms(value);
	else if (strcmp(key, "tolerate") == 0)
		x->toleration[j->placement.ntolerations++] = piece_toleration(value);
	else
		return false;
	return true;
}

static bool read_amount(struct words *w, struct resource_list *all, struct resource *item,
	const char *resource, const char *value)
{
	size_t at = 0;
	while (at < all->count && strcmp(item[at].name, resource) != 0)
		at++;
	all->count += at == all->count;
	item[at].name = resource;
	return piece_amount(w, resource, value, &item[at].amount);
}

static bool read_job_word(struct words *w, struct job_words *x, char *word)
{
	struct job *j = &x->job;
	char *value = piece_after(word, '=');
	if (words_after_of_job(j, word, value) || words_money_of_job(j, word, value) ||
		words_idle_of_job(j, word))
		return true;
	if (!value && strcmp(word, "grow") == 0) {
		j->grow = GROW_YES;
	} else if (!value && strcmp(word, "nogrow") == 0) {
		j->grow = GROW_NO;
	} else if (!value && strcmp(word, "hold") == 0) {
		j->hold = "true";
	} else if (!value && strcmp(word, "nohold") == 0) {
		j->hold = NULL;
	} else if (!value && strcmp(word, "valid") == 0) {
		j->invalid = NULL;
	} else if (!value && strcmp(word, "deleting") == 0) {
		j->deleting = true;
	} else if (!value && strcmp(word, "empty-resources") == 0) {
		j->pod.has_pod_level = true;
	} else if (!value && strcmp(word, "work-queue") == 0) {
		x->work_queue = true;
	} else if (!value) {
		return piece_wrong(w, "job: what is %s?", word);
	} else if (strcmp(word, "hold") == 0) {
		j->hold = value;
	} else if (strcmp(word, "affinity") == 0) {
		return read_affinity(w, x, value);
	} else if (strcmp(word, "select") == 0) {
		x->label[j->placement.nnode_selector++] = piece_label(value, ':');
	} else if (strcmp(word, "label") == 0) {
		x->own_label[j->nlabels++] = piece_label(value, ':');
	} else if (strcmp(word, "added") == 0) {
		x->added = piece_label(value, ':');
		j->nadded_labels = 1;
	} else if (strncmp(word, "limit.", 6) == 0) {
		return read_amount(w, &x->container.limits, x->limit, word + 6, value);
	} else if (!read_job_field(w, x, word, value)) {
		return read_amount(w, &x->container.requests, x->request, word, value);
	}
	return true;
}

/* As the gate does: a new Job needs a place (queue_has_place()), unless it was deferred and it is
 * its turn. */
static bool tell_job_words(struct words *w, const struct words_job *known, bool in_turn)
{
	struct job_words x = {.job = {.uid = known->uid,
				      .ns = known->ns,
				      .name = known->name,
				      .queue = "",
				      .priority_class = "",
				      .pod_priority_class = "",
				      .suspend = true,
				      .parallelism = 1,
				      .generation = 1}};
	struct job *j = &x.job;
	x.container.requests.item = x.request;
	x.container.limits.item = x.limit;
	x.container.name = "main";
	j->pod.containers = &x.container;
	j->pod.ncontainers = 1;
	j->labels = x.own_label;
	j->added_labels = &x.added;
	j->placement.node_selector = x.label;
	j->placement.tolerations = x.toleration;
	j->placement.terms = x.term;
	for (size_t i = 0; i < known->n; i++)
		if (!read_job_word(w, &x, piece_copy(known->word[i])))
			return false;
	if (!j->has_completions)
		j->completions = j->parallelism;
	j->has_completions = !x.work_queue;
	words_lending(j);
	struct arena arena = {0};
	j->template = words_template(&arena, j, x.pod);
	struct explanation unused;
	bool fresh = !in_turn && !queue_explain(w->q, &j->uid, w->now_ms, &unused);
	if (fresh && !queue_has_place(w->q, j))
		queue_defer_job(w->q, j, 0);
	else
		queue_set_job(w->q, j);
	words_after_told(w, j);
	arena_done(&arena);
	return true;
}

void words_tell_jobs_again(struct words *w)
{
	struct explanation x;
	for (size_t i = 0; i < w->njobs; i++)
		if (queue_explain(w->q, &w->job[i].uid, w->now_ms, &x))
			tell_job_words(w, &w->job[i], false);
}

void words_fetch_deferred(struct words *w)
{
	struct deferred_job d;
	while (queue_take_deferred(w->q, &d)) {
		const struct words_job *known = words_job_of(w, &d.uid);
		must(known);
		tell_job_words(w, known, true);
	}
}

static struct words_job *make_job(struct words *w, const char *ns_name)
{
	if (w->njobs == WORDS_JOBS_MAX)
		return NULL;
	char *text = mem_strdup(ns_name), *name = piece_after(text, '/');
	if (!name) {
		free(text);
		return NULL;
	}
	struct words_job *j = &w->job[w->njobs++];
	*j = (struct words_job){.ns = text, .name = name};
	j->uid.byte[15] = (uint8_t)w->njobs;
	return j;
}

static bool tell_job(struct words *w, char **word, size_t n)
{
	struct words_job *j = words_find_job(w, word[1]);
	bool fresh = strcmp(word[0], "job") == 0;
	if (!j && fresh) {
		w->wrong[0] = '\0';
		j = make_job(w, word[1]);
	}
	if (!j)
		return piece_wrong(w, "%s is no NS/NAME of a Job that is known", word[1]);
	while (fresh && j->n > 0)
		free(j->word[--j->n]);
	for (size_t i = 2; i < n && j->n < WORDS_JOB_WORDS_MAX; i++)
		j->word[j->n++] = mem_strdup(word[i]);
	return tell_job_words(w, j, false);
}

static void drop_job(struct words *w, const struct uid *uid)
{
	queue_drop_job(w->q, uid);
	queue_undefer_job(w->q, uid);
}

static bool tell_drop(struct words *w, char **word, size_t n)
{
	if (n < 3)
		return piece_wrong(w, "drop what?");
	const char *kind = word[1];
	char *name = word[2];
	if (strcmp(kind, "flavor") == 0)
		queue_drop_flavor(w->q, name);
	else if (strcmp(kind, "queue") == 0)
		queue_drop_clusterqueue(w->q, name);
	else if (strcmp(kind, "cohort") == 0)
		queue_drop_cohort(w->q, name);
	else if (strcmp(kind, "class") == 0)
		queue_drop_priority(w->q, PRIORITY_WORKLOAD, name);
	else if (strcmp(kind, "podclass") == 0)
		queue_drop_priority(w->q, PRIORITY_POD, name);
	else if (strcmp(kind, "namespace") == 0)
		queue_drop_namespace(w->q, name);
	else if (strcmp(kind, "local") == 0 && strchr(name, '/'))
		queue_drop_localqueue(w->q, piece_before(name, '/'), strchr(name, '/') + 1);
	else if (strcmp(kind, "limits") == 0 && strchr(name, '/'))
		queue_drop_limit_range(w->q, piece_before(name, '/'), strchr(name, '/') + 1);
	else if (strcmp(kind, "calendar") == 0)
		queue_drop_calendar(w->q, name);
	else if (strcmp(kind, "policy") == 0)
		queue_drop_runpolicy(w->q, name);
	else if (strcmp(kind, "reservation") == 0)
		queue_drop_advance_reservation(w->q, name);
	else if (strcmp(kind, "job") == 0 && words_find_job(w, name))
		drop_job(w, &words_find_job(w, name)->uid);
	else
		return piece_wrong(w, "drop: what is %s %s?", kind, name);
	return true;
}

static bool tell_reject(struct words *w, char **word, size_t n)
{
	if (n < 4)
		return piece_wrong(w, "reject queue|flavor|local NAME \"SENTENCE\"");
	char *name = strcmp(word[1], "local") == 0 ? piece_after(word[2], '/') : NULL;
	if (name)
		queue_reject_localqueue(w->q, word[2], name, word[3]);
	else if (strcmp(word[1], "queue") == 0)
		queue_reject_clusterqueue(w->q, word[2], word[3]);
	else if (strcmp(word[1], "calendar") == 0)
		queue_reject_calendar(w->q, word[2], word[3]);
	else if (strcmp(word[1], "policy") == 0)
		queue_reject_runpolicy(w->q, word[2], word[3]);
	else if (strcmp(word[1], "reservation") == 0)
		queue_reject_advance_reservation(w->q, word[2], word[3]);
	else {
		note_flavor(w, word[2]);
		queue_reject_flavor(w->q, word[2], word[3]);
	}
	return true;
}

/* As the gate does it. */
static void adopt_unread(
	struct words *w, const struct words_job *j, const struct quota_line *line, size_t n)
{
	struct job unread = {.uid = j->uid,
		.ns = j->ns,
		.name = j->name,
		.deleting = true,
		.queue = "",
		.priority_class = "",
		.pod_priority_class = "",
		.family = "",
		.suspend = true};
	queue_adopt_unread(w->q, &unread, line, n, w->now_ms);
}

static bool tell_adopt(struct words *w, const struct words_job *j, char **word, size_t n)
{
	struct quota_line line[16];
	size_t lines = 0;
	bool unread = false;
	const char *node = "", *flavor = "";
	for (size_t i = 2; i < n && lines < 16; i++) {
		char *amount = piece_after(word[i], '=');
		if (strcmp(word[i], "unread") == 0) {
			unread = true;
		} else if (amount) {
			line[lines] = (struct quota_line){node, flavor, word[i], 0};
			if (!piece_amount(w, word[i], amount, &line[lines++].amount))
				return false;
		} else if (strchr(word[i], '/')) {
			node = word[i];
		} else {
			flavor = word[i];
		}
	}
	if (unread)
		adopt_unread(w, j, line, lines);
	else
		queue_adopt_job(w->q, &j->uid, line, lines, w->now_ms);
	return true;
}

static bool tell_run(struct words *w, char **word, size_t n)
{
	const struct words_job *j = words_find_job(w, word[1]);
	const char *what = word[0];
	if (!j)
		return piece_wrong(w, "what is %s, or who is %s?", what, word[1]);
	if (strcmp(what, "adopt") == 0)
		return tell_adopt(w, j, word, n);
	if (strcmp(what, "reclaim") == 0)
		return words_tell_reclaim(w, j, word, n);
	if (strcmp(what, "confirm") == 0) {
		queue_confirm_job(w->q, &j->uid, w->now_ms);
	} else if (strcmp(what, "grew") == 0) {
		queue_grew_job(w->q, &j->uid, w->now_ms);
	} else if (strcmp(what, "ready") == 0 || strcmp(what, "unready") == 0) {
		queue_ready_job(w->q, &j->uid, strcmp(what, "ready") == 0, w->now_ms);
	} else if (strcmp(what, "block") == 0) {
		queue_block_job(w->q, &j->uid, "was suspended by its owner");
	} else if (strcmp(what, "unblock") == 0) {
		queue_block_job(w->q, &j->uid, NULL);
	} else if (strcmp(what, "counted") == 0 && n > 2) {
		queue_recall_priority(w->q, &j->uid, atoi(word[2]));
	} else if (strcmp(what, "ending") == 0) {
		queue_ending_job(w->q, &j->uid);
	} else if (strcmp(what, "release") == 0) {
		const char *until = n > 2 ? piece_value(word[2], "until") : NULL;
		queue_release_job(w->q, &j->uid, w->now_ms, until ? atoll(until) * 1000 : 0);
	} else if (strcmp(what, "keep") == 0) {
		queue_keep_pods(w->q, &j->uid);
	} else if (strcmp(what, "shrink") == 0) {
		const char *pods = n > 2 ? piece_value(word[2], "pods") : NULL;
		queue_shrink_job(w->q, &j->uid, pods ? atoi(pods) : 0, w->now_ms);
	} else {
		return piece_wrong(w, "what is %s?", what);
	}
	return true;
}

static bool tell_at(struct words *w, char **word, size_t n)
{
	(void)n;
	return words_tell_at(w, word[1]);
}

static bool tell_starts(struct words *w, char **word, size_t n)
{
	(void)n;
	queue_pause_starts(w->q, strcmp(word[1], "pause") == 0);
	return true;
}

static bool tell_statuses(struct words *w, char **word, size_t n)
{
	(void)n;
	queue_await_statuses(w->q, strcmp(word[1], "awaited") == 0);
	return true;
}

bool words_tell(struct words *w, char **word, size_t n)
{
	static const struct {
		const char *what;
		bool (*tell)(struct words *w, char **word, size_t n);
	} lines[] = {{"flavor", tell_flavor}, {"no", tell_no_flavor}, {"namespace", tell_namespace},
		{"class", tell_class}, {"podclass", tell_podclass}, {"config", tell_config},
		{"cohort", tell_cohort}, {"queue", tell_queue}, {"local", tell_local},
		{"job", tell_job}, {"edit", tell_job}, {"drop", tell_drop}, {"reject", tell_reject},
		{"at", tell_at}, {"starts", tell_starts}, {"statuses", tell_statuses},
		{"pool", words_tell_pool}, {"limits", words_tell_limits},
		{"overhead", words_tell_overhead}, {"recall", words_tell_recall},
		{"calendar", words_tell_calendar}, {"policy", words_tell_policy},
		{"reserve", words_tell_reserve}};
	piece_drop_all();
	w->wrong[0] = w->refused.text[0] = '\0';
	if (n < 2)
		return piece_wrong(w, "%s: what of it?", word[0]);
	bool known, sense = words_tell_money(w, word, n, &known);
	if (!known)
		sense = words_tell_cluster(w, word, n, &known);
	if (!known)
		sense = words_tell_after(w, word, n, &known);
	if (known)
		return sense;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (strcmp(word[0], lines[i].what) == 0)
			return lines[i].tell(w, word, n);
	return tell_run(w, word, n);
}
