#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "sluice/quantity.h"

#define MANY 16

/* The next word up to one of the separators; cut off in text. */
static char *next(char **text, const char *separators)
{
	char *word = *text;
	if (!word)
		return NULL;
	size_t len = strcspn(word, separators);
	*text = word[len] ? word + len + 1 : NULL;
	word[len] = '\0';
	return word;
}

/* The same; there must be one. */
static char *take(char **text, const char *separators)
{
	char *word = next(text, separators);
	must(word);
	return word;
}

static char *copy(struct arena *a, const char *s)
{
	size_t size = strlen(s) + 1;
	return memcpy(arena_take(a, size, 1), s, size);
}

static struct label pair(char *word, char between)
{
	char *value = strchr(word, between);
	if (value)
		*value++ = '\0';
	return (struct label){word, value ? value : ""};
}

static struct resource amount(char *word)
{
	struct label l = pair(word, '=');
	struct resource r = {l.key, 0};
	must(quantity_parse(slice_of(l.value), quantity_unit_of(l.key), &r.amount, NULL) == 0);
	return r;
}

static enum taint_effect effect(const char *s)
{
	static const char *const all[] = {"", "NoSchedule", "PreferNoSchedule", "NoExecute"};
	for (int i = 0; i < 4; i++)
		if (strcmp(all[i], s) == 0)
			return (enum taint_effect)i;
	must_not_get_here();
}

static enum selector_op op(const char *s)
{
	static const char *const all[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
	for (int i = 0; i < 6; i++)
		if (strcmp(all[i], s) == 0)
			return (enum selector_op)i;
	must_not_get_here();
}

static struct requirement requirement(struct arena *a, char *text)
{
	struct requirement r = {.key = take(&text, ":")};
	r.op = op(take(&text, ":"));
	const char **values = arena_take(a, MANY, sizeof(*values));
	while (text)
		values[r.nvalues++] = next(&text, ",");
	r.values = values;
	return r;
}

/* Requirements joined with &; those that begin with # are fields, where fields are wanted. */
static void selector(
	struct arena *a, char *text, struct selector_term *labels, struct selector_term *fields)
{
	struct requirement *l = arena_take(a, MANY, sizeof(*l));
	struct requirement *f = arena_take(a, MANY, sizeof(*f));
	*labels = (struct selector_term){l, 0};
	if (fields)
		*fields = (struct selector_term){f, 0};
	if (strcmp(text, "*") == 0 || strcmp(text, "-") == 0)
		return;
	while (text) {
		char *one = take(&text, "&");
		if (fields && *one == '#') {
			f[fields->nrequirements] = requirement(a, one + 1);
			f[fields->nrequirements++].key = "metadata.name";
		} else {
			l[labels->nrequirements++] = requirement(a, one);
		}
	}
}

static struct affinity_term affinity(struct arena *a, char *text)
{
	struct affinity_term t = {0};
	char *word;
	next(&text, "/");
	t.topology_key = next(&text, "/");
	word = take(&text, "/");
	t.has_selector = strcmp(word, "-") != 0;
	selector(a, word, &t.selector, NULL);
	while ((word = next(&text, "/"))) {
		if (strncmp(word, "nsel=", 5) == 0) {
			t.has_namespace_selector = true;
			selector(a, word + 5, &t.namespace_selector, NULL);
			continue;
		}
		const char **names = arena_take(a, MANY, sizeof(*names));
		char *list = word + strlen("ns=");
		while (list)
			names[t.nnamespaces++] = next(&list, ",");
		t.namespaces = names;
	}
	return t;
}

static struct spread_constraint spread(struct arena *a, char *text)
{
	struct spread_constraint c = {.min_domains = 1, .honor_affinity = true};
	char *word;
	next(&text, "/");
	c.topology_key = next(&text, "/");
	c.max_skew = atoi(next(&text, "/"));
	word = next(&text, "/");
	c.has_selector = strcmp(word, "-") != 0;
	selector(a, word, &c.selector, NULL);
	while ((word = next(&text, "/"))) {
		if (strncmp(word, "min=", 4) == 0)
			c.min_domains = atoi(word + 4);
		else if (strcmp(word, "affinity=Ignore") == 0)
			c.honor_affinity = false;
		else if (strcmp(word, "taints=Honor") == 0)
			c.honor_taints = true;
		else
			must_not_get_here();
	}
	return c;
}

static struct toleration toleration(char *text)
{
	struct toleration t = {.op = TOLERATION_EXISTS, .value = ""};
	char *of = strchr(text, ':');
	if (of)
		*of++ = '\0';
	t.effect = of ? effect(of) : TAINT_ANY;
	struct label l = pair(text, '=');
	t.key = strcmp(l.key, "*") == 0 ? "" : l.key;
	if (*l.value) {
		t.op = TOLERATION_EQUAL;
		t.value = l.value;
	}
	return t;
}

static struct host_port port(char *text)
{
	struct host_port p = {.ip = "0.0.0.0", .protocol = "TCP"};
	struct label ip = pair(text, '@');
	if (*ip.value)
		p.ip = ip.value;
	struct label protocol = pair(text, '/');
	if (*protocol.value)
		p.protocol = protocol.value;
	p.port = atoi(text);
	return p;
}

struct pod_words {
	struct pod pod;
	struct container container;
	struct resource request[MANY];
	struct label label[MANY], select[MANY];
	struct toleration toleration[MANY];
	struct node_term term[MANY];
	struct affinity_term near[MANY], apart[MANY];
	struct spread_constraint spread[MANY];
	struct host_port port[MANY];
};

static bool starts(const char *word, const char *with)
{
	return strncmp(word, with, strlen(with)) == 0;
}

static void pod_word(struct arena *a, struct pod_words *w, char *word)
{
	struct pod *p = &w->pod;
	if (*word == '+')
		w->request[w->container.requests.count++] = amount(word + 1);
	else if (*word == '@')
		w->select[p->nnode_selector++] = pair(word + 1, '=');
	else if (*word == '~')
		w->toleration[p->ntolerations++] = toleration(word + 1);
	else if (*word == '?')
		selector(a, word + 1, &w->term[p->nterms].labels, &w->term[p->nterms].fields),
			p->nterms++;
	else if (*word == ':')
		w->port[p->nhost_ports++] = port(word + 1);
	else if (starts(word, "near/"))
		w->near[p->naffinity++] = affinity(a, word);
	else if (starts(word, "apart/"))
		w->apart[p->nanti_affinity++] = affinity(a, word);
	else if (starts(word, "spread/"))
		w->spread[p->nspread++] = spread(a, word);
	else if (starts(word, "in="))
		p->ns = word + 3;
	else if (starts(word, "node="))
		p->node_name = word + 5;
	else if (starts(word, "scheduler="))
		p->scheduler = word + 10;
	else
		w->label[p->nlabels++] = pair(word, '=');
}

struct pod *words_pod(struct arena *a, const char *text)
{
	struct pod_words *w = arena_take(a, 1, sizeof(*w));
	char *rest = copy(a, text), *word;
	w->pod = (struct pod){.ns = "team",
		.labels = w->label,
		.resources = {.containers = &w->container, .ncontainers = 1, .runtime_class = ""},
		.priority_class = "",
		.node_name = "",
		.scheduler = "default-scheduler",
		.node_selector = w->select,
		.tolerations = w->toleration,
		.terms = w->term,
		.affinity = w->near,
		.anti_affinity = w->apart,
		.spread = w->spread,
		.host_ports = w->port};
	w->container.requests.item = w->request;
	while ((word = next(&rest, " ")))
		if (*word)
			pod_word(a, w, word);
	w->pod.has_terms = w->pod.nterms > 0;
	return &w->pod;
}

struct node_words {
	struct node_spec spec;
	struct resource amount[MANY];
	struct label label[MANY];
	struct taint taint[MANY];
};

static void allocate(struct node_words *w, struct resource r)
{
	for (size_t i = 0; i < w->spec.allocatable.count; i++) {
		if (strcmp(w->amount[i].name, r.name) == 0) {
			w->amount[i].amount = r.amount;
			return;
		}
	}
	w->amount[w->spec.allocatable.count++] = r;
}

struct node_spec *words_node(struct arena *a, const char *text)
{
	struct node_words *w = arena_take(a, 1, sizeof(*w));
	char *rest = copy(a, text), *word;
	w->amount[0] = (struct resource){"cpu", 10000};
	w->amount[1] = (struct resource){"pods", 10};
	w->spec = (struct node_spec){
		.labels = w->label, .taints = w->taint, .allocatable = {w->amount, 2}};
	while ((word = next(&rest, " "))) {
		if (!*word)
			continue;
		if (!w->spec.name) {
			w->spec.name = word;
		} else if (*word == '+') {
			allocate(w, amount(word + 1));
		} else if (*word == '!') {
			struct taint *t = &w->taint[w->spec.ntaints++];
			char *of = strchr(word, ':');
			*of++ = '\0';
			struct label l = pair(word + 1, '=');
			*t = (struct taint){l.key, l.value, effect(of)};
		} else if (strcmp(word, "cordon") == 0) {
			w->spec.unschedulable = true;
		} else {
			w->label[w->spec.nlabels++] = pair(word, '=');
		}
	}
	return &w->spec;
}

static void bind_words(struct nodes *n, struct arena *a, char *text, char *arrow)
{
	static uint32_t made;
	char *node = next(&text, " ");
	struct bound_pod b = {.node = node, .deleting = arrow[-1] == '!'};
	made++;
	memcpy(b.uid.byte, &made, sizeof(made));
	b.pod = words_pod(a, arrow + 2);
	nodes_bind(n, &b);
}

void words_world(struct nodes *n, const char *text)
{
	struct arena a = {0};
	char *rest = copy(&a, text), *one;
	while ((one = next(&rest, "|"))) {
		char *arrow = strstr(one, "<-");
		one += strspn(one, " ");
		if (arrow)
			bind_words(n, &a, one, arrow);
		else if (*one)
			nodes_set(n, words_node(&a, one));
	}
	arena_done(&a);
}
