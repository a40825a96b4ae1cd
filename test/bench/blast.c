/*
 * blast: sends HTTP requests as fast as a server takes them, with a plain curl_multi loop. It is
 * the yardstick of the admission bench ("raw": how fast can a client PATCH these Jobs?) and makes
 * the Jobs that benches need.
 *
 * Requests come on stdin, one a line: METHOD TAB PATH TAB CONTENT-TYPE TAB BODY. At the end one
 * JSON object on stdout: {"requests":N,"failed":N,"seconds":S,"per_s":R,"late_ms":M}. The first
 * failure is shown on stderr, whole.
 *
 * With --paced each line begins with when to send it (milliseconds after the beginning, TAB), in
 * order; late_ms is by how much the latest was sent after that, because all others were under way.
 */
#include <curl/curl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/must.h"

struct request {
	CURL *easy;
	struct curl_slist *headers;
	char *line; /* owns what the handle points to */
	struct buf answer;
};

struct blast {
	const char *server, *ca, *cert, *key, *token;
	size_t in_flight_max;
	bool paced;
	CURLM *multi;
	struct request *requests;
	struct request **idle; /* those that are not under way */
	size_t nidle;
	char *next;	/* the line to be sent next; NULL: not read yet */
	double next_ms; /* when it is due, after the beginning */
	bool drained;	/* stdin has no more */
	double began, late_ms;
	size_t sent, failed;
};

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t keep_answer(char *ptr, size_t size, size_t n, void *ctx)
{
	struct request *r = ctx;
	buf_add(&r->answer, ptr,
		size * n); /* over its ceiling: only the beginning is of interest */
	return size * n;
}

static void set_up(struct blast *b, struct request *r)
{
	buf_init(&r->answer, 4096);
	r->easy = curl_easy_init();
	must(r->easy);
	curl_easy_setopt(r->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(r->easy, CURLOPT_TCP_NODELAY, 1L);
	curl_easy_setopt(r->easy, CURLOPT_CAINFO, b->ca);
	if (b->cert) {
		curl_easy_setopt(r->easy, CURLOPT_SSLCERT, b->cert);
		curl_easy_setopt(r->easy, CURLOPT_SSLKEY, b->key);
	}
	curl_easy_setopt(r->easy, CURLOPT_WRITEFUNCTION, keep_answer);
	curl_easy_setopt(r->easy, CURLOPT_WRITEDATA, r);
	curl_easy_setopt(r->easy, CURLOPT_PRIVATE, r);
}

static void add_header(struct request *r, const char *name, const char *value)
{
	struct buf text;
	buf_init(&text, 1 << 16);
	buf_printf(&text, "%s: %s", name, value);
	r->headers = curl_slist_append(r->headers, buf_text(&text));
	buf_done(&text);
}

static double elapsed_ms(const struct blast *b)
{
	return (now_s() - b->began) * 1000;
}

/* Has the next line; false at the end of the input. */
static bool have_next(struct blast *b)
{
	size_t room = 0;
	if (b->next || b->drained)
		return b->next;
	if (getline(&b->next, &room, stdin) <= 0) {
		free(b->next);
		b->next = NULL;
		b->drained = true;
		return false;
	}
	b->next[strcspn(b->next, "\n")] = '\0';
	b->next_ms = b->paced ? strtod(b->next, NULL) : 0;
	return true;
}

static bool can_send(struct blast *b)
{
	return b->nidle > 0 && have_next(b) && b->next_ms <= elapsed_ms(b);
}

static void send_next(struct blast *b)
{
	struct request *r = b->idle[--b->nidle];
	double late_ms = elapsed_ms(b) - b->next_ms;
	b->late_ms = b->paced && late_ms > b->late_ms ? late_ms : b->late_ms;
	free(r->line);
	r->line = b->next;
	b->next = NULL;
	char *rest = r->line;
	if (b->paced)
		strsep(&rest, "\t");
	const char *method = strsep(&rest, "\t"), *path = strsep(&rest, "\t"),
		   *type = strsep(&rest, "\t");
	must(method && path && type && rest);
	curl_slist_free_all(r->headers);
	r->headers = NULL;
	add_header(r, "Content-Type", type);
	if (b->token)
		add_header(r, "Authorization", b->token);
	struct buf url;
	buf_init(&url, 1 << 16);
	buf_printf(&url, "%s%s", b->server, path);
	curl_easy_setopt(r->easy, CURLOPT_URL, buf_text(&url)); /* curl copies it */
	buf_done(&url);
	curl_easy_setopt(r->easy, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(r->easy, CURLOPT_POSTFIELDS, rest);
	curl_easy_setopt(r->easy, CURLOPT_HTTPHEADER, r->headers);
	buf_reset(&r->answer);
	must(curl_multi_add_handle(b->multi, r->easy) == CURLM_OK);
	b->sent++;
}

static void judge(struct blast *b, const struct request *r, CURLcode code)
{
	long status = 0;
	curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_OK && status >= 200 && status < 300)
		return;
	if (b->failed++ == 0)
		fprintf(stderr, "blast: %s: HTTP %ld: %s\n", curl_easy_strerror(code), status,
			buf_text(&r->answer));
}

static void collect(struct blast *b)
{
	int left;
	for (CURLMsg *m; (m = curl_multi_info_read(b->multi, &left));) {
		if (m->msg != CURLMSG_DONE)
			continue;
		struct request *r;
		CURLcode code = m->data.result;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&r);
		curl_multi_remove_handle(b->multi, r->easy);
		judge(b, r, code);
		b->idle[b->nidle++] = r;
	}
}

/* Until something happens on a connection, or the next line is due. */
static void wait_a_while(struct blast *b)
{
	double ms = b->nidle > 0 && have_next(b) ? b->next_ms - elapsed_ms(b) : 1000;
	if (ms > 0)
		must(curl_multi_poll(b->multi, NULL, 0, ms < 1000 ? (int)ms + 1 : 1000, NULL) ==
			CURLM_OK);
}

static void run(struct blast *b)
{
	for (;;) {
		int running;
		while (can_send(b))
			send_next(b);
		if (b->nidle == b->in_flight_max && !have_next(b))
			return;
		must(curl_multi_perform(b->multi, &running) == CURLM_OK);
		collect(b);
		wait_a_while(b);
	}
}

static void parse(struct blast *b, int argc, char **argv)
{
	static const struct option options[] = {{"server", required_argument, NULL, 's'},
		{"ca", required_argument, NULL, 'a'}, {"cert", required_argument, NULL, 'c'},
		{"key", required_argument, NULL, 'k'}, {"token", required_argument, NULL, 't'},
		{"in-flight", required_argument, NULL, 'n'}, {"paced", no_argument, NULL, 'p'},
		{0}};
	const char **text[] = {['s'] = &b->server,
		['a'] = &b->ca,
		['c'] = &b->cert,
		['k'] = &b->key,
		['t'] = &b->token};
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (c == '?')
			exit(2);
		else if (c == 'n')
			b->in_flight_max = strtoul(optarg, NULL, 10);
		else if (c == 'p')
			b->paced = true;
		else
			*text[c] = optarg;
	}
	if (!b->server || !b->ca || b->in_flight_max == 0) {
		fprintf(stderr,
			"usage: blast --server URL --ca FILE [--cert FILE --key FILE | --token "
			"'Bearer T'] [--in-flight N] [--paced] < requests\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct blast b = {.in_flight_max = 64};
	parse(&b, argc, argv);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	b.multi = curl_multi_init();
	curl_multi_setopt(b.multi, CURLMOPT_MAXCONNECTS, (long)b.in_flight_max);
	b.requests = calloc(b.in_flight_max, sizeof(*b.requests));
	b.idle = calloc(b.in_flight_max, sizeof(struct request *));
	must(b.multi && b.requests && b.idle);
	for (size_t i = 0; i < b.in_flight_max; i++) {
		set_up(&b, &b.requests[i]);
		b.idle[b.nidle++] = &b.requests[i];
	}
	b.began = now_s();
	run(&b);
	double seconds = now_s() - b.began;
	printf("{\"requests\":%zu,\"failed\":%zu,\"seconds\":%.3f,\"per_s\":%.1f,\"late_ms\":%.0f}"
	       "\n",
		b.sent, b.failed, seconds, (double)b.sent / seconds, b.late_ms);
	for (size_t i = 0; i < b.in_flight_max; i++) {
		curl_easy_cleanup(b.requests[i].easy);
		curl_slist_free_all(b.requests[i].headers);
		free(b.requests[i].line);
		buf_done(&b.requests[i].answer);
	}
	free(b.requests);
	free(b.idle);
	curl_multi_cleanup(b.multi);
	curl_global_cleanup();
	return b.failed > 0;
}
