#include "controller/answers/whatif.h"

#include <stdlib.h>

#include "base/mem.h"
#include "controller/answers/complaint.h"
#include "controller/answers/review_reply.h"
#include "controller/answers/whatif_specs.h"
#include "controller/answers/whatif_text.h"
#include "controller/answers/whatif_verdicts.h"
#include "controller/answers/watch_terms.h"

struct whatif_question {
	struct review_reply reply;
	const struct answer_sources *from;
	struct whatif_specs *specs;
};

static void forget(struct review_reply *r)
{
	struct whatif_question *x = container_of(r, struct whatif_question, reply);
	whatif_specs_free(x->specs);
	free(x);
}

/* ---- in the copies ----------------------------------------------------------------------------- */

static int change(struct queue *q, size_t variant, void *ctx, struct err *e)
{
	const struct whatif_question *x = ctx;
	(void)variant;
	return whatif_specs_apply(x->specs, q, x->from->time_specs, e);
}

static void decided(const struct queue *q, size_t variant, struct buf *out, void *ctx)
{
	const struct whatif_question *x = ctx;
	(void)variant;
	whatif_verdicts_put(x->specs, q, out);
}

static void tell(const struct ask_answer *a, const struct queue *q,
	const struct review_basis *basis, struct buf *out, void *ctx)
{
	(void)ctx;
	if (a->variant[1].draws > 0)
		whatif_put(a, q, basis, out);
}

/* ---- the question ------------------------------------------------------------------------------ */

struct taking {
	struct whatif_specs *specs;
	int rc;
	struct err e;
};

static bool take_object(const char *value, void *ctx)
{
	struct taking *t = ctx;
	t->rc = whatif_specs_add(t->specs, value, &t->e);
	return t->rc == 0;
}

static bool take_drop(const char *value, void *ctx)
{
	struct taking *t = ctx;
	t->rc = whatif_specs_add_drop(t->specs, value, &t->e);
	return t->rc == 0;
}

/* Takes the objects of a question; NULL: q is answered. */
static struct whatif_specs *take_specs(struct http_question *q)
{
	struct watch_words watch = {.watch = http_param(q, "watch")};
	struct taking t = {.specs = whatif_specs_new(), .e = {""}};
	http_each_param(q, "object", take_object, &t);
	if (t.rc == 0)
		http_each_param(q, "drop", take_drop, &t);
	if (watch_wanted(&watch))
		complain(q, 400, "whatifs cannot be watched: ask for them again");
	else if (t.rc != 0)
		complain(q, t.rc == ERR_LIMIT ? 413 : 400, t.e.text);
	else if (whatif_specs_count(t.specs) == 0)
		complain(q, 400,
			"what would change? Give an object as it would be (object=JSON), or drop=KIND/NAME. `sluice whatif` writes such questions");
	else
		return t.specs;
	whatif_specs_free(t.specs);
	return NULL;
}

void whatif_take(const struct answer_sources *from, struct link *asked, struct http_question *q,
	const char *who)
{
	struct whatif_specs *specs = take_specs(q);
	if (!specs)
		return;
	struct whatif_question *x = mem_alloc(sizeof(*x));
	x->from = from;
	x->specs = specs;
	x->reply.done = forget;
	x->reply.empty_status = 503;
	x->reply.when_empty =
		"the queue could be simulated as it is, but not with the change: that simulation took too long or failed";
	if (!review_reply_enter(&x->reply, q, from->reviews, asked, who, "")) {
		forget(&x->reply);
		return;
	}
	struct review_plays plays = {.variants = 2,
		.change = change,
		.decided = decided,
		.tell = tell,
		.costs = true,
		.ctx = x};
	review_play(x->reply.review, &plays);
}
