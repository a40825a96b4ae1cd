#include "cli/whatif/object_steps.h"

#include <stdlib.h>
#include <string.h>

#define ELLIPSIS "\xE2\x80\xA6" /* U+2026 */
#define POINTS "..."

struct reader {
	const char *path, *p;
	struct err *e;
};

static int refuse(const struct reader *r, const char *why)
{
	return err_set(r->e, ERR_INVALID, "\"%.200s\" is no path: %s", r->path, why);
}

/* Returns the end of the three points, or NULL: there are none. */
static const char *past_points(const char *p)
{
	if (strncmp(p, POINTS, strlen(POINTS)) == 0)
		return p + strlen(POINTS);
	return strncmp(p, ELLIPSIS, strlen(ELLIPSIS)) == 0 ? p + strlen(ELLIPSIS) : NULL;
}

static int add(const struct reader *r, char text[STEP_TEXT_SIZE], size_t *len, char c)
{
	if (*len + 1 >= STEP_TEXT_SIZE)
		return refuse(r, "a name in it is too long");
	text[(*len)++] = c;
	text[*len] = '\0';
	return 0;
}

/* Reads up to the next point or bracket; a backslash makes what follows an ordinary character. */
static int read_key(struct reader *r, struct object_step *s)
{
	size_t len = 0;
	int rc = 0;
	while (rc == 0 && *r->p && !strchr(".[]", *r->p) && !past_points(r->p)) {
		r->p += *r->p == '\\' && r->p[1];
		rc = add(r, s->key, &len, *r->p++);
	}
	if (rc == 0 && len == 0)
		return refuse(r, *r->p ? "a name is missing in it" : "it ends without a name");
	return rc;
}

/* Reads up to the end, which is not taken; in quotes up to the second quote, and then the end. */
static int read_text(struct reader *r, char end, char ret[STEP_TEXT_SIZE])
{
	size_t len = 0;
	int rc = 0;
	char quote = *r->p == '"' || *r->p == '\'' ? *r->p++ : '\0';
	while (rc == 0 && *r->p && *r->p != (quote ? quote : end))
		rc = add(r, ret, &len, *r->p++);
	if (rc == 0 && quote && *r->p++ != quote)
		return refuse(r, "a quote in it is not closed");
	return rc < 0 || *r->p == end ? rc : refuse(r, "a bracket in it is not closed");
}

static bool is_index(const char *p)
{
	size_t len = strspn(p, "0123456789");
	return len > 0 && len < 7 && p[len] == ']';
}

/* Reads what is behind an opening bracket: 3, "a.key", name=spot. */
static int read_bracket(struct reader *r, struct object_step *s)
{
	int rc;
	if (is_index(r->p)) {
		char *end;
		s->kind = STEP_INDEX;
		s->index = strtoul(r->p, &end, 10);
		r->p = end + 1;
		return 0;
	}
	if (*r->p == '"' || *r->p == '\'') {
		rc = read_text(r, ']', s->key);
	} else if (strcspn(r->p, "=") < strcspn(r->p, "]")) {
		s->kind = STEP_ITEM;
		rc = read_text(r, '=', s->key);
		r->p += rc == 0;
		if (rc == 0)
			rc = read_text(r, ']', s->value);
	} else {
		return refuse(r,
			"in brackets stands a number, FIELD=VALUE as in [name=spot], or a key in quotes");
	}
	if (rc == 0 && !*s->key)
		return refuse(r, "a name is missing in it");
	r->p += rc == 0;
	return rc;
}

static int read_step(struct reader *r, struct object_step *s)
{
	const char *behind = past_points(r->p);
	if (behind) {
		s->anywhere = true;
		r->p = behind;
	} else if (*r->p == '.') {
		r->p++;
	} else if (*r->p != '[' && r->p != r->path) {
		return refuse(r, "a point is missing in it");
	}
	if (*r->p != '[')
		return read_key(r, s);
	r->p++;
	return read_bracket(r, s);
}

int object_steps_parse(const char *path, struct object_steps *ret, struct err *e)
{
	struct reader r = {path, path, e};
	int rc = *path ? 0 : refuse(&r, "it is empty");
	ret->n = 0;
	while (rc == 0 && *r.p) {
		if (ret->n == STEPS_MAX)
			return refuse(&r, "it has too many steps");
		ret->step[ret->n] = (struct object_step){.kind = STEP_KEY};
		rc = read_step(&r, &ret->step[ret->n++]);
	}
	return rc;
}
