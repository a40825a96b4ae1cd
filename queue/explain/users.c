/*
 * Users: what still needs a ClusterQueue or a ResourceFlavor that an admin deletes.
 *
 *   ClusterQueue    reservations: Jobs that run in it, are being started, or have pods left.
 *                   A waiting Job and a LocalQueue are no users: they can be given another one
 *   ResourceFlavor  ClusterQueues and Cohorts that name it (spec in force), and reservations in it
 *
 * Worked out from the facts when asked, so that nothing has to be kept. Sentences name queues and
 * never a Job: conditions are read in namespaces that may not list the Jobs of others.
 */
#include "queue/explain/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"

enum { NAMES_MAX = 3 }; /* so many are named; the others are counted */

/* ---- of a ClusterQueue ----------------------------------------------------------------------- */

bool users_of_clusterqueue(const struct clusterqueue *cq, struct text *t)
{
	if (list_empty(&cq->reservations))
		return false;
	size_t n = cq->counts.reserving;
	const struct localqueue *lq =
		container_of(cq->reservations.next, struct reservation, of_clusterqueue)->lq;
	text_add(t, n == 1 ? "%s, of LocalQueue " : "%s, one of them of LocalQueue ",
		count_words(n, "Job").s);
	text_add_name(t, lq->ns->name, lq->name);
	text_add(t, n == 1 ? ", holds quota in it" : ", hold quota in it");
	return true;
}

bool queue_clusterqueue_users(
	const struct queue *q, const char *name, char ret_sentence[QUEUE_USERS_SIZE])
{
	const struct clusterqueue *cq = clusterqueue_find(&q->clusterqueues, name);
	struct text t = text_over(ret_sentence, QUEUE_USERS_SIZE);
	return cq && users_of_clusterqueue(cq, &t);
}

/* ---- of a ResourceFlavor --------------------------------------------------------------------- */

enum use { NAMED_BY_CLUSTERQUEUE, NAMED_BY_COHORT, HELD_IN_CLUSTERQUEUE };

struct flavor_user {
	enum use use;
	const char *name; /* of the ClusterQueue or Cohort */
};

struct flavor_users {
	struct flavor_user *user;
	size_t n, capacity;
};

static void users_add(struct flavor_users *u, enum use use, const struct quota_node *node)
{
	u->user = mem_room(u->user, u->n, &u->capacity, 16, sizeof(*u->user));
	u->user[u->n++] = (struct flavor_user){use, strchr(node->name, '/') + 1};
}

/* A Cohort has rows for its members' flavors, too. Then the members name it, not the Cohort. */
static void look_at_row(struct flavor_users *u, const struct quota_row *row)
{
	bool is_cohort = row->node->cohort != NULL;
	if (row->in_spec)
		users_add(u, is_cohort ? NAMED_BY_COHORT : NAMED_BY_CLUSTERQUEUE, row->node);
	else if (!is_cohort && strncmp(row->node->name, "cq/", 3) == 0 && row->use[QUOTA_NOW] > 0)
		users_add(u, HELD_IN_CLUSTERQUEUE, row->node);
}

static int user_order(const void *a, const void *b)
{
	const struct flavor_user *x = a, *y = b;
	return x->use != y->use ? (x->use < y->use ? -1 : 1) : strcmp(x->name, y->name);
}

/* Each once: a flavor has a row for each resource. */
static void users_sort(struct flavor_users *u)
{
	size_t n = 0;
	if (u->n > 1)
		qsort(u->user, u->n, sizeof(*u->user), user_order);
	for (size_t i = 0; i < u->n; i++)
		if (n == 0 || user_order(&u->user[i], &u->user[n - 1]) != 0)
			u->user[n++] = u->user[i];
	u->n = n;
}

static void add_names(struct text *t, const struct flavor_user *user, size_t n)
{
	for (size_t i = 0; i < n && i < NAMES_MAX; i++)
		text_add(t, "%s%s", i ? ", " : "", user[i].name);
	if (n > NAMES_MAX)
		text_add(t, " and %zu more", n - NAMES_MAX);
}

static void add_use(struct text *t, const struct flavor_user *user, size_t n)
{
	static const char *const kind[] = {
		[NAMED_BY_CLUSTERQUEUE] = "ClusterQueue",
		[NAMED_BY_COHORT] = "Cohort",
		[HELD_IN_CLUSTERQUEUE] = "Jobs of ClusterQueue",
	};
	text_add(t, "%s%s ", kind[user->use], n > 1 ? "s" : "");
	add_names(t, user, n);
	if (user->use == HELD_IN_CLUSTERQUEUE)
		text_add(t, " hold quota in it");
	else
		text_add(t, " name%s it in spec.resourceGroups", n > 1 ? "" : "s");
}

static void add_users(struct text *t, const struct flavor_users *u)
{
	for (size_t i = 0, n; i < u->n; i += n) {
		for (n = 1; i + n < u->n && u->user[i + n].use == u->user[i].use;)
			n++;
		text_add(t, "%s", i ? "; " : "");
		add_use(t, &u->user[i], n);
	}
}

bool queue_flavor_users(
	const struct queue *q, const char *name, char ret_sentence[QUEUE_USERS_SIZE])
{
	struct text t = text_over(ret_sentence, QUEUE_USERS_SIZE);
	const struct flavor_pool *flavor_pool;
	struct flavor_users users = {0};
	map_each(&q->quota.flavor_pools, i, flavor_pool) {
		if (strcmp(flavor_pool->flavor, name) != 0)
			continue;
		list_each_entry(&flavor_pool->rows, const struct quota_row, row, of_flavor_pool)
			look_at_row(&users, row);
	}
	users_sort(&users);
	add_users(&t, &users);
	free(users.user);
	return users.n > 0;
}
