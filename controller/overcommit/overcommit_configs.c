#include "controller/overcommit/overcommit_configs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/json.h"
#include "controller/wire/decode.h"

#define COLOCATION_KEY "colocation-config"
#define THRESHOLD_KEY "resource-threshold-config"
#define QOS_KEY "resource-qos-config"

struct overcommit_configs {
	bool has_configmap;
	struct overcommit_config *config; /* the last good one; NULL: none */
	char *text;			  /* of the newest ConfigMap, good or not */
	char *fault;
	struct rule *rule; /* in name order */
	size_t nrules;
	char **name; /* node states point to them: no name is freed before the end */
	size_t nnames;
	uint64_t version;
};

struct overcommit_configs *overcommit_configs_new(void)
{
	struct overcommit_configs *r = mem_alloc(sizeof(*r));
	r->version = 1;
	return r;
}

static void rule_done(struct rule *u)
{
	free(u->good);
	free(u->fault);
}

void overcommit_configs_free(struct overcommit_configs *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nrules; i++)
		rule_done(&r->rule[i]);
	for (size_t i = 0; i < r->nnames; i++)
		free(r->name[i]);
	free(r->rule);
	free(r->name);
	free(r->config);
	free(r->text);
	free(r->fault);
	free(r);
}

static const char *intern(struct overcommit_configs *r, const char *name)
{
	for (size_t i = 0; i < r->nnames; i++)
		if (strcmp(r->name[i], name) == 0)
			return r->name[i];
	r->name = mem_grow(r->name, r->nnames + 1, sizeof(char *));
	return r->name[r->nnames++] = mem_strdup(name);
}

static void set_fault(char **at, const char *sentence)
{
	free(*at);
	*at = mem_strdup(sentence);
}

/* ---- the ConfigMap --------------------------------------------------------------------------- */

static struct slice text_or_none(const char *text)
{
	return text ? slice_of(text) : (struct slice){"", 0};
}

static bool same_text(struct overcommit_configs *r, const char *colocation, const char *threshold,
	const char *qos)
{
	struct buf both;
	buf_init(&both, (size_t)4 << 20);
	buf_puts(&both, colocation);
	buf_putc(&both, '\n');
	buf_puts(&both, threshold ? threshold : "");
	buf_putc(&both, '\n');
	buf_puts(&both, qos ? qos : "");
	char *text = buf_take(&both);
	bool same = r->has_configmap && r->text && strcmp(r->text, text) == 0;
	free(r->text);
	r->text = text;
	return same;
}

static void intern_entries(struct overcommit_configs *r, const struct overcommit_config *c)
{
	for (size_t i = 0; i < c->nnodes; i++)
		intern(r, c->nodes[i].name ? c->nodes[i].name : "");
}

int overcommit_configs_see_configmap(
	struct overcommit_configs *r, const struct cJSON *object, bool *ret_news, struct err *e)
{
	const cJSON *data = json_object(object, "data");
	const char *colocation = json_text(data, COLOCATION_KEY);
	const char *threshold = json_text(data, THRESHOLD_KEY);
	const char *qos = json_text(data, QOS_KEY);
	struct overcommit_config *config = NULL;
	*ret_news = false;
	if (!colocation) {
		*ret_news = r->has_configmap;
		overcommit_configs_drop_configmap(r);
		return 0;
	}
	if (same_text(r, colocation, threshold, qos))
		return r->fault ? err_set(e, ERR_INVALID, "%s", r->fault) : 0;
	r->has_configmap = *ret_news = true;
	r->version++;
	int rc = decode_overcommit_config(
		slice_of(colocation), text_or_none(threshold), text_or_none(qos), &config, e);
	set_fault(&r->fault, rc ? e->text : NULL);
	if (rc)
		return rc;
	free(r->config);
	r->config = config;
	intern_entries(r, config);
	return 0;
}

void overcommit_configs_drop_configmap(struct overcommit_configs *r)
{
	if (!r->has_configmap)
		return;
	r->has_configmap = false;
	r->version++;
	free(r->config);
	r->config = NULL;
	free(r->text);
	r->text = NULL;
	set_fault(&r->fault, NULL);
}

bool overcommit_configs_has_configmap(const struct overcommit_configs *r)
{
	return r->has_configmap;
}

const char *overcommit_configs_fault(const struct overcommit_configs *r)
{
	return r->fault;
}

const char *overcommit_configs_note(const struct overcommit_configs *r, size_t index)
{
	const struct qos_config *q = r->config ? &r->config->qos : NULL;
	return q && index < q->nnotes ? q->notes[index] : NULL;
}

/* ---- NodeOvercommits ------------------------------------------------------------------------- */

/* Finds the place where a name is, or would be. */
static size_t place_of(const struct overcommit_configs *r, const char *name)
{
	size_t i = 0;
	while (i < r->nrules && strcmp(r->rule[i].name, name) < 0)
		i++;
	return i;
}

static bool is_at(const struct overcommit_configs *r, size_t i, const char *name)
{
	return i < r->nrules && strcmp(r->rule[i].name, name) == 0;
}

static struct rule *want_rule(struct overcommit_configs *r, const char *name)
{
	size_t i = place_of(r, name);
	if (!is_at(r, i, name)) {
		r->rule = mem_grow(r->rule, r->nrules + 1, sizeof(*r->rule));
		memmove(&r->rule[i + 1], &r->rule[i], (r->nrules - i) * sizeof(*r->rule));
		r->rule[i] = (struct rule){.name = intern(r, name)};
		r->nrules++;
	}
	return &r->rule[i];
}

int overcommit_configs_see(struct overcommit_configs *r, const struct cJSON *object, struct err *e)
{
	struct node_overcommit *o = NULL;
	int rc = decode_node_overcommit(object, &o, e);
	struct rule *u = want_rule(r, decode_name(object));
	u->generation = 0;
	json_i64(json_object(object, "metadata"), "generation", &u->generation);
	decode_uid(object, &u->uid);
	u->unseen = true;
	r->version++;
	set_fault(&u->fault, rc ? e->text : NULL);
	if (rc)
		return rc;
	free(u->good);
	u->good = o;
	return 0;
}

void overcommit_configs_drop(struct overcommit_configs *r, const char *name)
{
	size_t i = place_of(r, name);
	if (!is_at(r, i, name))
		return;
	rule_done(&r->rule[i]);
	memmove(&r->rule[i], &r->rule[i + 1], (r->nrules - i - 1) * sizeof(*r->rule));
	r->nrules--;
	r->version++;
}

const struct rule *overcommit_configs_at(const struct overcommit_configs *r, size_t index)
{
	return index < r->nrules ? &r->rule[index] : NULL;
}

bool rule_selects(const struct rule *u, const struct node_facts *f)
{
	return u->good && labels_match(f->labels, f->nlabels, &u->good->selector);
}

/* ---- what holds ------------------------------------------------------------------------------ */

bool overcommit_configs_known(const struct overcommit_configs *r)
{
	return !r->has_configmap || r->config;
}

static bool enables(const struct strategy_layer *l)
{
	return (l->says & (UINT64_C(1) << FIELD_ENABLE)) && l->value.enable;
}

static bool config_lends(const struct overcommit_config *c)
{
	if (enables(&c->cluster))
		return true;
	for (size_t i = 0; i < c->nnodes; i++)
		if (enables(&c->nodes[i].layer))
			return true;
	return false;
}

bool overcommit_configs_lends(const struct overcommit_configs *r)
{
	if (r->has_configmap)
		return r->config && config_lends(r->config);
	for (size_t i = 0; i < r->nrules; i++)
		if (r->rule[i].good && enables(&r->rule[i].good->layer))
			return true;
	return false;
}

uint64_t overcommit_configs_version(const struct overcommit_configs *r)
{
	return r->version;
}

static const char *known_name(const struct overcommit_configs *r, const char *name)
{
	for (size_t i = 0; name && i < r->nnames; i++)
		if (strcmp(r->name[i], name) == 0)
			return r->name[i];
	return NULL;
}

static void rule_by(const struct overcommit_configs *r, const struct overcommit_config *c,
	const char *whose, const struct node_facts *f, struct ruling *ret)
{
	const char *entry = NULL;
	ret->governed = true;
	ret->whose = whose;
	ret->strategy = strategy_for(c, f->labels, f->nlabels, &f->own, &entry);
	ret->entry = known_name(r, entry);
}

void overcommit_configs_rule(
	const struct overcommit_configs *r, const struct node_facts *f, struct ruling *ret)
{
	*ret = (struct ruling){.strategy = strategy_default(PROFILE_ACK)};
	ret->strategy.enable = false;
	if (r->has_configmap) {
		if (r->config)
			rule_by(r, r->config, "", f, ret);
		return;
	}
	for (size_t i = 0; i < r->nrules; i++) {
		if (!rule_selects(&r->rule[i], f))
			continue;
		struct overcommit_config c = {.cluster = r->rule[i].good->layer};
		rule_by(r, &c, r->rule[i].name, f, ret);
		return;
	}
}
