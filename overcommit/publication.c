#include "overcommit/publication.h"

#include <stddef.h>

#include "base/order.h"
#include "overcommit/span.h"

const char *const figure_names[FIGURES] = {BATCH_CPU, BATCH_MEMORY, GOCRAN_CPU, GOCRAN_MEMORY};
const struct figures no_figures = {.each = {-1, -1, -1, -1}};

bool figures_any(const struct figures *f)
{
	return f->batch_cpu >= 0 || f->batch_memory >= 0 || f->gocran_cpu >= 0 ||
	       f->gocran_memory >= 0;
}

/* Returns a figure to write. What is not lent is 0 where there is a figure, else nothing. */
static int64_t figure(
	const struct publication_input *in, bool lent, int64_t rest, int64_t there, int64_t asked)
{
	int64_t bound = in->in_flight ? least(asked, there) : 0;
	if (!lent)
		return there < 0 ? -1 : greater(0, bound);
	if (in->hold)
		return there < 0 ? -1 : least(greater(greater(0, rest), bound), there);
	return greater(greater(0, rest), bound);
}

static int64_t whole_cores_up(int64_t milli)
{
	int64_t positive = greater(0, milli);
	return positive / 1000 + (positive % 1000 > 0);
}

struct figures publication_figures(const struct publication_input *in, const struct figures *there)
{
	unsigned names = in->lend ? in->strategy->names : 0;
	bool batch = names & LEND_BATCH, gocran = names & LEND_GOCRAN;
	struct load pool = batch ? in->batch : in->gocran, nothing = {0, 0};
	if (batch && gocran)
		pool = load_min(in->batch, in->gocran);
	/* Pods that ask under a name that is not lent under any more are there all the same. */
	struct load for_batch = load_less(pool, load_max(in->gocran_asked, nothing));
	struct load for_gocran = load_less(pool, load_max(in->batch_asked, nothing));
	return (struct figures){
		.batch_cpu = figure(in, batch, for_batch.cpu_milli, there->batch_cpu,
			in->batch_asked.cpu_milli),
		.batch_memory = figure(in, batch, for_batch.memory_bytes, there->batch_memory,
			in->batch_asked.memory_bytes),
		.gocran_cpu = figure(in, gocran, for_gocran.cpu_milli / 1000, there->gocran_cpu,
			whole_cores_up(in->gocran_asked.cpu_milli)),
		.gocran_memory = figure(in, gocran, for_gocran.memory_bytes, there->gocran_memory,
			in->gocran_asked.memory_bytes),
	};
}

/* What a rule asks of one of the four names. */
struct row {
	bool lent, in_flight;
	int64_t want, there, written, asked; /* in the unit of the name, asked rounded up */
};

static void fill(struct row row[FIGURES], const struct publication_input *in,
	const struct figures *want, const struct figures *there, const struct figures *written)
{
	bool batch = in->lend && in->strategy->names & LEND_BATCH;
	bool gocran = in->lend && in->strategy->names & LEND_GOCRAN;
	const int64_t asked[FIGURES] = {in->batch_asked.cpu_milli, in->batch_asked.memory_bytes,
		whole_cores_up(in->gocran_asked.cpu_milli), in->gocran_asked.memory_bytes};
	for (size_t i = 0; i < FIGURES; i++)
		row[i] = (struct row){i < 2 ? batch : gocran, in->in_flight, want->each[i],
			there->each[i], written->each[i], asked[i]};
}

static bool differs(const struct row *r)
{
	return r->want >= 0 && r->want != r->there;
}

static bool to_be_zeroed(const struct row *r)
{
	return !r->lent && r->there > 0;
}

static bool is_new(const struct row *r)
{
	return r->there < 0;
}

/* Tells whether the figure falls below what is asked for, or is kept from that for a moment. Where
 * it is below already, no new pod fits in anyway. */
static bool is_exceeded(const struct row *r)
{
	if (r->in_flight && r->want == r->asked && r->there > r->asked)
		return true;
	return r->want < r->asked && r->there >= r->asked;
}

static bool is_foreign(const struct row *r)
{
	return r->written >= 0 && r->there != r->written;
}

static bool differs_much(const struct row *r, int64_t permille)
{
	__int128 by = (__int128)r->want - r->there;
	return (by < 0 ? -by : by) * 1000 > (__int128)greater(0, r->there) * permille;
}

enum publication_why publication_due(const struct publication_input *in, const struct figures *want,
	const struct figures *there, const struct figures *written, int64_t written_ms,
	int64_t now_ms)
{
	static const struct {
		bool (*holds)(const struct row *r);
		enum publication_why why;
	} at_once[] = {{to_be_zeroed, PUBLISH_OFF}, {is_new, PUBLISH_FIRST},
		{is_exceeded, PUBLISH_SAFETY}, {is_foreign, PUBLISH_FOREIGN}};
	struct row row[FIGURES];
	bool any = false, much = false;
	fill(row, in, want, there, written);
	for (size_t k = 0; k < sizeof(at_once) / sizeof(*at_once); k++)
		for (size_t i = 0; i < FIGURES; i++)
			if (differs(&row[i]) && at_once[k].holds(&row[i]))
				return at_once[k].why;
	for (size_t i = 0; i < FIGURES; i++) {
		any |= differs(&row[i]);
		much |= differs(&row[i]) && differs_much(&row[i], in->strategy->diff_permille);
	}
	/* A time of writing in the future is of a clock that was set back: as if it were long ago.
	 */
	int64_t since =
		written_ms && written_ms <= now_ms ? span_between(written_ms, now_ms) : INT64_MAX;
	if (!any || since < span_ms(in->strategy->period_s, SPAN_SECOND_MS))
		return PUBLISH_NOT;
	if (much)
		return PUBLISH_DIFF;
	return since > span_ms(in->strategy->rewrite_s, SPAN_SECOND_MS) ? PUBLISH_OLD : PUBLISH_NOT;
}

const char *publication_why_name(enum publication_why w)
{
	switch (w) {
	case PUBLISH_NOT:
		return "not";
	case PUBLISH_FIRST:
		return "first";
	case PUBLISH_DIFF:
		return "diff";
	case PUBLISH_OLD:
		return "old";
	case PUBLISH_SAFETY:
		return "safety";
	case PUBLISH_FOREIGN:
		return "foreign";
	case PUBLISH_OFF:
		return "off";
	}
	return "not";
}
