#include "controller/answers/job_query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/slice.h"
#include "base/span.h"
#include "controller/common/selector.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-."

/* ---- the path -------------------------------------------------------------------------------- */

/* Takes the next part of the path, up to a slash or its end. */
static bool take_name(const char **at, char *ret, size_t size)
{
	size_t len = strcspn(*at, "/");
	if (len == 0 || len >= size || strspn(*at, NAME_CHARACTERS) < len)
		return false;
	memcpy(ret, *at, len);
	ret[len] = '\0';
	*at += len;
	return true;
}

static bool take_word(const char **at, const char *word)
{
	size_t len = strlen(word);
	if (strncmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

bool job_query_path(const char *path, struct job_query *ret)
{
	const char *at = path;
	*ret = (struct job_query){0};
	if (!take_word(&at, VISIBILITY_ROOT "/"))
		return false;
	if (take_word(&at, "clusterqueues/"))
		return take_name(&at, ret->clusterqueue, sizeof(ret->clusterqueue)) &&
		       strcmp(at, "/queuedjobs") == 0;
	if (take_word(&at, "namespaces/") &&
		(!take_name(&at, ret->ns, sizeof(ret->ns)) || !take_word(&at, "/")))
		return false;
	memcpy(ret->path_ns, ret->ns, sizeof(ret->path_ns));
	if (!take_word(&at, "queuedjobs"))
		return false;
	if (*at == '\0')
		return true;
	ret->one = true;
	return ret->ns[0] && take_word(&at, "/") && take_name(&at, ret->name, sizeof(ret->name)) &&
	       *at == '\0';
}

bool job_query_start_path(const char *path, char ret_ns[64], char ret_name[254])
{
	const char *at = path;
	return take_word(&at, VISIBILITY_ROOT "/namespaces/") && take_name(&at, ret_ns, 64) &&
	       take_word(&at, "/queuedjobs/") && take_name(&at, ret_name, 254) &&
	       strcmp(at, "/start") == 0;
}

/* ---- what it shall look like ----------------------------------------------------------------- */

/* A media type of the header Accept; "" where it does not say. */
struct media {
	struct slice type, as, version;
};

/* Takes a part up to one of the characters of `end`, without the spaces around it. */
static struct slice take_part(const char **at, const char *end)
{
	*at += strspn(*at, " ");
	struct slice part = {*at, strcspn(*at, end)};
	*at += part.len;
	while (part.len > 0 && part.ptr[part.len - 1] == ' ')
		part.len--;
	return part;
}

static struct media take_media(const char **at)
{
	struct media m = {.type = take_part(at, ";,"), .as = slice_of(""), .version = slice_of("")};
	while (**at == ';') {
		(*at)++;
		struct slice name = take_part(at, "=;,"), value = slice_of("");
		if (**at == '=') {
			(*at)++;
			value = take_part(at, ";,");
		}
		if (slice_is(name, "as"))
			m.as = value;
		else if (slice_is(name, "v"))
			m.version = value;
	}
	*at += **at == ',';
	return m;
}

static bool is_table(const struct media *m)
{
	bool is_json = slice_is(m->type, "application/json") || slice_is(m->type, "*/*") ||
		       slice_is(m->type, "application/*");
	return is_json && slice_is(m->as, "Table") && slice_is(m->version, "v1");
}

/* Takes the first media type that we have: a Table of v1, or objects where no other form is asked
 * for. */
static int take_accepted(const char *accept, bool *ret_table, struct err *e)
{
	const char *at = accept ? accept : "";
	*ret_table = false;
	if (!*at)
		return 0;
	while (*at) {
		struct media m = take_media(&at);
		*ret_table = is_table(&m);
		if (*ret_table || m.as.len == 0)
			return 0;
	}
	return err_set(e, ERR_GONE,
		"Accept names no form that is served; ask for application/json, or for application/json;as=Table;v=v1;g=meta.k8s.io");
}

static int take_form(struct job_query *q, const struct job_query_words *w, struct err *e)
{
	const char *include = w->include_object ? w->include_object : "";
	bool table;
	int rc = take_accepted(w->accept, &table, e);
	q->form = FORM_OBJECTS;
	if (rc || !table)
		return rc;
	q->form = FORM_TABLE;
	if (strcmp(include, "None") == 0)
		q->form = FORM_TABLE_ALONE;
	else if (strcmp(include, "Object") == 0)
		q->form = FORM_TABLE_OBJECTS;
	else if (*include && strcmp(include, "Metadata") != 0)
		return err_set(e, ERR_INVALID,
			"includeObject is \"%.40s\"; it must be None, Metadata or Object", include);
	return 0;
}

/* ---- which ----------------------------------------------------------------------------------- */

struct field {
	const char *name;
	char *value, *other; /* for = and for !=; NULL: not known */
	size_t size;
};

/* Measures a term, up to the next comma. A backslash takes its meaning from a comma, an equals sign
 * or another backslash. */
static size_t term_length(const char *text)
{
	size_t len = 0;
	while (text[len] && text[len] != ',')
		len += text[len] == '\\' && text[len + 1] ? 2 : 1;
	return len;
}

/* Takes the value without its backslashes. False: it is empty, or has no room. */
static bool take_plain(const char *value, size_t len, char *ret, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < len && n < size; i++) {
		if (value[i] == '\\' && i + 1 < len)
			i++;
		ret[n++] = value[i];
	}
	if (n == 0 || n == size)
		return false;
	ret[n] = '\0';
	return true;
}

static int take_value(
	const struct field *f, bool is_not, const char *value, size_t len, struct err *e)
{
	char plain[sizeof(((struct job_query *)0)->submitted_by)];
	char *to = is_not ? f->other : f->value;
	must(f->size <= sizeof(plain));
	if (!to)
		return err_set(
			e, ERR_INVALID, "fieldSelector: %s cannot be asked for with !=", f->name);
	if (!take_plain(value, len, plain, f->size))
		return err_set(e, ERR_INVALID,
			"fieldSelector: the value of %s must have 1 to %zu characters", f->name,
			f->size - 1);
	if (*to && strcmp(to, plain) != 0)
		return err_set(e, ERR_INVALID, "fieldSelector: %s is given twice", f->name);
	strcpy(to, plain);
	return 0;
}

/* The only comparison with nothing: Jobs that have a trouble, whichever it is. */
#define IN_TROUBLE "status.trouble.reason!="

/* Takes NAME=VALUE, NAME==VALUE or NAME!=VALUE. */
static int take_field(struct job_query *q, const char *text, size_t len, struct err *e)
{
	const struct field fields[] = {
		{"metadata.name", q->name, NULL, sizeof(q->name)},
		{"metadata.namespace", q->ns, NULL, sizeof(q->ns)},
		{"spec.queue", q->localqueue, NULL, sizeof(q->localqueue)},
		{"spec.clusterQueue", q->clusterqueue, NULL, sizeof(q->clusterqueue)},
		{"spec.submittedBy", q->submitted_by, NULL, sizeof(q->submitted_by)},
		{"status.state", q->state, q->not_state, sizeof(q->state)},
		{"status.trouble.reason", q->trouble, NULL, sizeof(q->trouble)},
	};
	if (len == strlen(IN_TROUBLE) && memcmp(text, IN_TROUBLE, len) == 0) {
		q->in_trouble = true;
		return 0;
	}
	const char *equals = memchr(text, '=', len);
	bool is_not = equals && equals > text && equals[-1] == '!';
	size_t name = equals ? (size_t)(equals - text) - is_not : len;
	const char *value = equals ? equals + 1 + (equals[1] == '=') : text;
	for (size_t i = 0; equals && i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strlen(fields[i].name) == name && memcmp(text, fields[i].name, name) == 0)
			return take_value(
				&fields[i], is_not, value, (size_t)(text + len - value), e);
	return err_set(e, ERR_INVALID,
		"fieldSelector: \"%.*s\" is not known; known are metadata.name, metadata.namespace, spec.queue, spec.clusterQueue, spec.submittedBy, status.state and status.trouble.reason, such as status.state=Waiting",
		(int)(len < 60 ? len : 60), text);
}

static int take_fields(struct job_query *q, const char *text, struct err *e)
{
	int rc = 0;
	for (const char *at = text; at && *at && rc == 0;) {
		size_t len = term_length(at);
		rc = take_field(q, at, len, e);
		at += len + (at[len] == ',');
	}
	return rc;
}

static int take_labels(struct job_query *q, const char *text, struct err *e)
{
	struct selector s;
	if (!text || !*text)
		return 0;
	size_t len = strlen(text);
	bool good = len < sizeof(q->labels) && selector_parse(text, &s);
	if (len < sizeof(q->labels))
		selector_done(&s);
	if (!good)
		return err_set(e, ERR_INVALID,
			"labelSelector is not one, or is longer than %zu characters; write it as for kubectl -l, such as team=a,stage!=test",
			sizeof(q->labels) - 1);
	memcpy(q->labels, text, len + 1);
	return 0;
}

/* ---- which page ------------------------------------------------------------------------------ */

static bool take_number(const char **at, uint64_t *ret)
{
	char *end;
	errno = 0;
	if (**at < '0' || **at > '9')
		return false;
	*ret = strtoull(*at, &end, 10);
	*at = end;
	return errno == 0;
}

static int take_page(struct job_query *q, const struct job_query_words *w, struct err *e)
{
	const char *limit = w->limit ? w->limit : "", *token = w->token ? w->token : "";
	uint64_t n = 0, first = 0;
	if (*limit && (!take_number(&limit, &n) || *limit))
		return err_set(e, ERR_INVALID,
			"limit is \"%.40s\"; it must be a number, such as 500", w->limit);
	q->limit = (size_t)n;
	if (!*token)
		return 0;
	if (!take_number(&token, &q->moment) || *token++ != '.' || !take_number(&token, &first) ||
		*token || q->moment == 0)
		return err_set(e, ERR_INVALID,
			"continue must be what the page before gave as metadata.continue");
	q->first = (size_t)first;
	return 0;
}

const char *job_query_token(uint64_t moment, size_t first, char ret[JOB_QUERY_TOKEN_SIZE])
{
	snprintf(ret, JOB_QUERY_TOKEN_SIZE, "%" PRIu64 ".%zu", moment, first);
	return ret;
}

/* ---- of a timeline --------------------------------------------------------------------------- */

#define TIMELINE_SPAN_LEAST_MS 60000

int job_query_take_timeline(
	struct job_query *q, const char *until, const char *clusterqueue, struct err *e)
{
	const char *at = clusterqueue;
	q->ask = ASK_TIMELINE;
	if (!span_parse_long(until ? until : "24h", &q->span_ms) ||
		q->span_ms < TIMELINE_SPAN_LEAST_MS || q->span_ms > TIMELINE_SPAN_MAX_MS)
		return err_set(e, ERR_INVALID,
			"until is \"%.40s\"; it must be so long from now, one minute to seven days: 6h, 24h or 7d",
			until);
	if (at && (!take_name(&at, q->clusterqueue, sizeof(q->clusterqueue)) || *at))
		return err_set(e, ERR_INVALID,
			"clusterQueue is \"%.70s\"; it must be the name of a ClusterQueue",
			clusterqueue);
	return 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

int job_query_take(struct job_query *q, const struct job_query_words *w, struct err *e)
{
	int rc = take_form(q, w, e);
	if (rc == 0)
		rc = take_labels(q, w->label_selector, e);
	if (rc == 0)
		rc = take_fields(q, w->field_selector, e);
	if (rc == 0)
		rc = take_page(q, w, e);
	return rc;
}
