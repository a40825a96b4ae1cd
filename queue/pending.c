/* Functions of queue.h that have no module yet. */
#include "sluice/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/pending.h"

const struct regime REGIME_ALWAYS = {.open = true};
const struct regime *regime_of(const struct localqueue *lq)
{
	(void)lq;
	return &REGIME_ALWAYS;
}
int64_t regime_lasts_ms(const struct regime *r, int64_t expected_ms)
{
	(void)r;
	return expected_ms;
}
bool regime_next_open(const struct regime *r, int64_t duration_ms, int64_t limit_ms,
	int64_t *from_ms, int64_t *ret_to_ms)
{
	(void)r, (void)duration_ms;
	*ret_to_ms = INT64_MAX;
	return *from_ms < limit_ms;
}
int64_t closing_spares_until_ms(const struct runpolicy *p, const struct room *r)
{
	(void)p, (void)r;
	return INT64_MAX;
}
bool runpolicy_glob(const char *glob, const char *name)
{
	return strcmp(glob, "*") == 0 || strcmp(glob, name) == 0;
}
struct timetable *timetable_keep(struct queue *q, const char *name)
{
	(void)q;
	struct timetable *t = mem_alloc(sizeof(*t));
	t->name = mem_strdup(name);
	list_init(&t->rates);
	return t;
}
void timetable_put(struct queue *q, struct timetable *t)
{
	(void)q;
	free(t->name);
	free(t);
}

int queue_set_calendar(struct queue *q, const struct calendar_spec *s, struct err *e)
{
	(void)q, (void)s, (void)e;
	return 0;
}
void queue_reject_calendar(struct queue *q, const char *name, const char *sentence)
{
	(void)q, (void)name, (void)sentence;
}
void queue_drop_calendar(struct queue *q, const char *name)
{
	(void)q, (void)name;
}
int queue_set_runpolicy(
	struct queue *q, const struct runpolicy_spec *s, bool *ret_again, struct err *e)
{
	(void)q, (void)s, (void)e;
	*ret_again = false;
	return 0;
}
void queue_reject_runpolicy(struct queue *q, const char *name, const char *sentence)
{
	(void)q, (void)name, (void)sentence;
}
void queue_drop_runpolicy(struct queue *q, const char *name)
{
	(void)q, (void)name;
}
bool queue_view_calendar(const struct queue *q, size_t index, struct calendar_view *ret)
{
	(void)q, (void)index, (void)ret;
	return false;
}
bool queue_view_runpolicy(const struct queue *q, size_t index, struct runpolicy_view *ret)
{
	(void)q, (void)index, (void)ret;
	return false;
}
bool queue_view_priceplan(const struct queue *q, size_t index, struct priceplan_view *ret)
{
	(void)q, (void)index, (void)ret;
	return false;
}
bool queue_view_budget(const struct queue *q, size_t index, struct budget_view *ret)
{
	(void)q, (void)index, (void)ret;
	return false;
}
