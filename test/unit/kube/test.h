/*
 * What the tests of the Kubernetes client share: cmocka, files that go away, a loop that runs until
 * something is true. The guard only turns a hang into a failure; no test asserts a time.
 */
#ifndef SLUICE_TEST_KUBE_TEST_H
#define SLUICE_TEST_KUBE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "controller/kube/config.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static inline void auth_fired(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)timer;
	(void)revents;
	ev_break(loop, EVBREAK_ALL);
	fprintf(stderr, "the test hangs\n");
	abort();
}

static inline void tick(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)timer;
	(void)revents;
}

/* The ticker lets conditions be asked again that hang on the time alone. */
#define run_until(loop, condition)                                                                 \
	do {                                                                                       \
		ev_timer auth_, ticker_;                                                           \
		ev_now_update(loop);                                                               \
		ev_timer_init(&auth_, auth_fired, 900., 0.);                                       \
		ev_timer_init(&ticker_, tick, 0.002, 0.002);                                       \
		ev_timer_start((loop), &auth_);                                                    \
		ev_timer_start((loop), &ticker_);                                                  \
		while (!(condition))                                                               \
			ev_run((loop), EVRUN_ONCE);                                                \
		ev_timer_stop((loop), &auth_);                                                     \
		ev_timer_stop((loop), &ticker_);                                                   \
	} while (0)

/* Some turns of the loop without waiting: what is due happens. */
static inline void run_a_little(struct ev_loop *loop)
{
	for (int i = 0; i < 50; i++)
		ev_run(loop, EVRUN_NOWAIT);
}

static inline void write_file(const char *dir, const char *name, const char *text, mode_t mode)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	chmod(path, mode);
}

static inline char *make_dir(void)
{
	char *dir = mem_strdup("/tmp/sluice-kube-XXXXXX");
	assert_non_null(mkdtemp(dir));
	return dir;
}

static inline void remove_dir(char *dir)
{
	char command[600];
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	assert_int_equal(system(command), 0);
	free(dir);
}

/* A configuration without a file: the address, and what else the user entry says. */
static inline struct kube_config *config_for(const char *url, const char *user_yaml)
{
	struct buf b;
	struct kube_config *config = NULL;
	struct err err = {""};
	struct kube_config_options options = {.allow_http = true};
	buf_init(&b, 65536);
	buf_printf(&b,
		"current-context: k\ncontexts: [{name: k, context: {cluster: c, user: u}}]\n"
		"clusters: [{name: c, cluster: {server: \"%s\"}}]\n"
		"users: [{name: u, user: {%s}}]\n",
		url, user_yaml ? user_yaml : "");
	if (kube_config_parse(buf_slice(&b), "/test/kubeconfig", &options, &config, &err) < 0)
		fail_msg("%s", err.text);
	buf_done(&b);
	return config;
}

#endif
