#include "words_idle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pieces.h"

bool words_idle_of_flavor(struct flavor_spec *s, const char *word, const char *value)
{
	if (strcmp(word, "idle") == 0) {
		s->lending = strcmp(value, "Gocran") == 0 ? LENDING_GOCRAN : LENDING_BATCH;
		s->share_permille = s->share_permille ? s->share_permille : 1000;
	} else if (strcmp(word, "share") == 0) {
		s->share_permille = atoi(value) * 10;
	} else {
		return false;
	}
	return true;
}

bool words_idle_of_job(struct job *j, const char *word)
{
	if (strcmp(word, "preemptible") != 0)
		return false;
	j->lending = 1u << LENDING_NONE | 1u << LENDING_BATCH | 1u << LENDING_GOCRAN;
	return true;
}

void words_lending(struct job *j)
{
	const struct resource_list *all = &j->pod.containers[0].requests;
	for (size_t i = 0; i < all->count; i++) {
		if (strncmp(all->item[i].name, "kubernetes.io/batch-", 20) == 0 ||
			strncmp(all->item[i].name, "alibabacloud.com/reclaimed", 26) == 0)
			j->lending = 1u << LENDING_BATCH;
		if (strncmp(all->item[i].name, "gocran.io/", 10) == 0)
			j->lending = 1u << LENDING_GOCRAN;
	}
}

bool words_tell_pool(struct words *w, char **word, size_t n)
{
	struct idle_pool p = {word[1], 0, INT64_MAX, -1, -1};
	for (size_t i = 2; i < n; i++) {
		char *value = piece_after(word[i], '=');
		const char *resource = strstr(word[i], "memory") ? "memory" : "cpu";
		bool most = strncmp(word[i], "most-", 5) == 0, cpu = *resource == 'c';
		int64_t *to = most ? (cpu ? &p.most_cpu_milli : &p.most_memory_bytes)
				   : (cpu ? &p.cpu_milli : &p.memory_bytes);
		if (!value || !piece_amount(w, resource, value, to))
			return piece_wrong(w, "pool: what is %s?", word[i]);
	}
	p.most_cpu_milli = p.most_cpu_milli < 0 ? p.cpu_milli : p.most_cpu_milli;
	p.most_memory_bytes = p.most_memory_bytes < 0 ? p.memory_bytes : p.most_memory_bytes;
	queue_set_idle_pool(w->q, &p);
	return true;
}

bool words_tell_reclaim(struct words *w, const struct words_job *j, char **word, size_t n)
{
	const char *pods = n > 3 ? piece_value(word[2], "pods") : NULL;
	if (!pods)
		return piece_wrong(w, "reclaim NS/NAME pods=N \"WHY\"");
	if (!queue_reclaim_job(w->q, &j->uid, atoi(pods), word[3]))
		err_set(&w->refused, ERR_INVALID, "nothing to reclaim");
	return true;
}

bool words_say_idle(struct words *w, char **word, size_t n, char *got, size_t size)
{
	bool borrows = strcmp(word[0], "borrows") == 0, asks = strcmp(word[0], "asks") == 0;
	const struct words_job *j = n > 1 && (borrows || asks) ? words_find_job(w, word[1]) : NULL;
	if (!j)
		return false;
	if (borrows)
		snprintf(got, size, "borrows %s %s", word[1],
			queue_job_borrows(w->q, &j->uid) ? "yes" : "no");
	else
		snprintf(got, size, "asks %s %s", word[1],
			lending_name(queue_job_lending(w->q, &j->uid), "cpu"));
	return true;
}
