/* What is offered to a shell: every command, flag and known value of the tables, and names. */
#include "test/unit/kube/test.h"

#include "cli/command_table.h"
#include "cli/completion/candidates.h"
#include "cli/completion/cluster_names.h"
#include "cli/completion/scripts.h"
#include "cli/live_object.h"
#include "test/unit/kube/scripted_server.h"

enum { WORDS_MAX = 8, ANSWER_MAX = 1 << 16, OPTIONS_MAX = 1 << 18 };

/* ---- a line, and what is offered ----------------------------------------------------------------- */

static struct asked {
	char kind[32], ns[64], context[64];
} asked;

/* A cluster that has three objects of each kind. */
static void three_names(
	const char *kind, const struct completion_place *place, struct buf *ret_lines)
{
	const char *ns = place->namespace_name, *context = place->kube.context;
	snprintf(asked.kind, sizeof(asked.kind), "%s", kind);
	snprintf(asked.ns, sizeof(asked.ns), "%s", ns ? ns : "");
	snprintf(asked.context, sizeof(asked.context), "%s", context ? context : "");
	buf_puts(ret_lines, "train-1\ntrain-2\nprep\n");
}

/* Words of the line, with a "." for the empty one. */
static void complete(const char *line, completion_names *names, struct buf *out)
{
	char text[256], *word[WORDS_MAX], *rest = text;
	size_t n = 0;
	snprintf(text, sizeof(text), "%s", line);
	for (char *w; (w = strsep(&rest, " "));) {
		assert_true(n < WORDS_MAX);
		word[n++] = strcmp(w, ".") == 0 ? w + 1 : w;
	}
	buf_init(out, ANSWER_MAX);
	completion_candidates(word, n, names, out);
}

static const struct {
	const char *line, *answer;
} lines[] = {
	{"jo", "jobs\tthe queued Jobs, in the order of the queue\n:4\n"},
	{"rel", "release\tput a Job on hold, and let it go on again\n:4\n"},
	{"vers", "version\n:4\n"},
	{"nonsense .", ":4\n"},
	{"nonsense --", ":4\n"},
	{"nice job/x --t", "--top\n:4\n"},
	{"help prio", "priority\tanother WorkloadPriorityClass for a queued Job\n:4\n"},
	{"version .", ":4\n"},
	{"completion .", "bash\nzsh\nfish\n:4\n"},
	{"completion zsh .", ":4\n"},
	/* flags */
	{"jobs --st", "--state\n:4\n"},
	{"-n team queue --wa", "--watch\n:4\n"},
	{"--kube", "--kubeconfig\n:4\n"},
	{"release --be", ":4\n"},
	{"hold --be", "--because\n:4\n"},
	{"simulate --fair-s", "--fair-sharing\n:4\n"},
	{"adopt -- --for", ":4\n"},
	/* their values */
	{"jobs -o .", "table\nwide\njson\nname\n:4\n"},
	{"jobs -wo .", "table\nwide\njson\nname\n:4\n"},
	{"jobs --output j", "json\n:4\n"},
	{"jobs --output=j", "--output=json\n:4\n"},
	{"jobs --output = j", "json\n:4\n"}, /* as bash splits it */
	{"jobs --output =", "table\nwide\njson\nname\n:4\n"},
	{"jobs --mine=", ":4\n"},
	{"explain -o .", "table\njson\n:4\n"},
	{"cost -o .", "table\ncsv\njson\n:4\n"},
	{"cost --by lab", "label=\n:6\n"},
	{"cost --since .", ":4\n"},
	{"report --by na", "namespace\n:4\n"},
	{"report -o .", "table\ncsv\njson\n:4\n"},
	{"report .", ":4\n"},
	{"history --us", "--user\n:4\n"},
	{"history --server", ":4\n"},
	{"jobs --state Run", "Running\n:4\n"},
	{"jobs --state Waiting,Run", "Waiting,Running\n:4\n"},
	{"jobs --state=Waiting,Run", "--state=Waiting,Running\n:4\n"},
	{"jobs -o table,j", ":4\n"},
	{"doctor --ignore vers", "version\n:4\n"},
	{"hold --because .", ":4\n"},
	{"simulate -f .", ":0\n"},
	{"simulate --requeue-backoff-max .", ":4\n"},
	{"jobs --kubeconfig=", ":0\n"},
	/* words */
	{"calendar .", "show\ntest\nimport\n:4\n"},
	{"reserve 64 gpu --dry-run=", "--dry-run=client\n:4\n"},
	{"reserve 64 gpu -o .", "yaml\njson\n:4\n"},
	{"reserve 64 gpu --rel", "--release-after\n:4\n"},
	{"calendar --at now t", "test\n:4\n"},
	{"when job/x --why", "--why-not-earlier\n:4\n"},
	{"start job/x --why", "--why-not-earlier\n:4\n"}, /* its old name */
	{"star", ":4\n"},
	{"whe", "when\tthe expected start of a Job, and what would start it earlier\n:4\n"},
	{"whatif --set clust", "clusterqueue/\n:6\n"},
	{"whatif --set c", "clusterqueue/\ncohort/\ncalendar/\n:4\n"},
	{"whatif --set=run", "--set=runpolicy/\n:6\n"},
	{"whatif --set job/t", ":4\n"},
	{"whatif --set cq/train-1:spec", ":4\n"},
	{"whatif -f .", ":0\n"},
	{"calendar import .", ":0\n"},
	{"calendar frob .", ":4\n"},
	{"overcommit calc .", ":4\n"},
	{"import .", "kueue\ncrane\n:4\n"},
	{"simulate a.yaml b.yaml .", ":0\n"},
};

static void a_line_is_completed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct buf out;
		complete(lines[i].line, three_names, &out);
		if (strcmp(buf_text(&out), lines[i].answer) != 0)
			fail_msg("%s\ngives\n%s", lines[i].line, buf_text(&out));
		buf_done(&out);
	}
}

static const struct {
	const char *line, *answer, *kind, *ns, *context;
} names[] = {
	{"explain tr", "train-1\ntrain-2\n:4\n", "JOB", "", ""},
	{"history -n team tr", "train-1\ntrain-2\n:4\n", "JOB", "team", ""},
	{"history job/p", "job/prep\n:4\n", "JOB", "", ""},
	{"hold job/tr", "job/train-1\njob/train-2\n:4\n", "JOB", "", ""},
	{"hold job/train job/tr", ":4\n", "", "", ""},
	{"release -n team p", "prep\n:4\n", "JOB", "team", ""},
	{"release -nteam p", "prep\n:4\n", "JOB", "team", ""},
	{"--context=far -n team explain p", "prep\n:4\n", "JOB", "team", "far"},
	{"adopt --namespace = team prep p", "prep\n:4\n", "UNQUEUED-JOB", "team", ""},
	{"move job/prep --queue p", "prep\n:4\n", "QUEUE", "", ""},
	{"jobs -q p", "prep\n:4\n", "QUEUE", "", ""},
	{"jobs -n p", "prep\n:4\n", "NAMESPACE", "", ""},
	{"jobs --namespace=p", "--namespace=prep\n:4\n", "NAMESPACE", "", ""},
	{"priority job/x p", "prep\n:4\n", "CLASS", "", ""},
	{"queue p", "prep\n:4\n", "CLUSTERQUEUE", "", ""},
	{"reserve 64 gpu --queue p", "prep\n:4\n", "CLUSTERQUEUE", "", ""},
	{"reserve --all-of p", "prep\n:4\n", "FLAVOR", "", ""},
	{"reserve 64 gpu --calendar p", "prep\n:4\n", "CALENDAR", "", ""},
	{"calendar show p", "prep\n:4\n", "CALENDAR", "", ""},
	{"whatif --set clusterqueue/p", "clusterqueue/prep\n:6\n", "ClusterQueue", "", ""},
	{"whatif --set cq/tr", "cq/train-1\ncq/train-2\n:4\n", "ClusterQueue", "", ""},
	{"whatif -n team --drop lq/p", "lq/prep\n:4\n", "LocalQueue", "team", ""},
	{"overcommit explain node/p", "node/prep\n:4\n", "NODE", "", ""},
};

static void names_are_asked_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct buf out;
		asked = (struct asked){""};
		complete(names[i].line, three_names, &out);
		if (strcmp(buf_text(&out), names[i].answer) != 0)
			fail_msg("%s\ngives\n%s", names[i].line, buf_text(&out));
		assert_string_equal(asked.kind, names[i].kind);
		assert_string_equal(asked.ns, names[i].ns);
		assert_string_equal(asked.context, names[i].context);
		buf_done(&out);
	}
}

/* ---- the tables ------------------------------------------------------------------------------------ */

static void is_offered(const struct buf *out, const char *command, const char *flag)
{
	char line[128];
	snprintf(line, sizeof(line), "--%s\n", flag);
	if (!strstr(buf_text(out), line))
		fail_msg("--%s is not offered for %s", flag, command);
}

static void every_flag_of_every_command_is_offered(void **state)
{
	(void)state;
	for (size_t c = 0; c < COMMANDS; c++) {
		const struct command_row *row = &command_table[c];
		const struct flag *f;
		size_t base;
		struct buf out;
		char line[64];
		snprintf(line, sizeof(line), "%s%s--", row->name, *row->name ? " " : "");
		complete(line, three_names, &out);
		for (size_t i = 0; (f = flags_at(row->flags, i, &base)); i++)
			is_offered(&out, row->name, f->name);
		buf_done(&out);
	}
}

static void take(const struct flag_table *t, const struct flag *f, size_t base, const char *value)
{
	struct err e = {""};
	char *options = calloc(1, t->size);
	if (flag_take(f, value, options + base, &e) < 0)
		fail_msg("--%s %s is offered, and refused: %s", f->name, value, e.text);
	free(options);
}

static void every_value_that_is_offered_is_taken(void **state)
{
	(void)state;
	size_t taken = 0;
	for (size_t c = 0; c < COMMANDS; c++) {
		const struct flag_table *t = command_table[c].flags;
		const struct flag *f;
		size_t base;
		for (size_t i = 0; (f = flags_at(t, i, &base)); i++) {
			char values[256], *rest = values;
			if (!f->value || !strchr(f->value, '|'))
				continue;
			snprintf(values, sizeof(values), "%s", f->value);
			for (char *v; (v = strsep(&rest, "|"));) {
				if (strcmp(v, "...") == 0)
					continue;
				take(t, f, base, v);
				taken++;
			}
		}
	}
	assert_true(taken > 40);
}

/* cluster_names() aborts at a kind that it does not know. */
static void every_kind_is_known(void **state)
{
	(void)state;
	setenv("KUBECONFIG", "/nonexistent", 1);
	for (size_t c = 1; c < COMMANDS; c++) {
		const struct command_row *row = &command_table[c];
		static const char *const behind[] = {".", "show .", "explain .", "a ."};
		char line[128];
		struct buf out;
		for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++) {
			snprintf(line, sizeof(line), "%s %s", row->name, behind[i]);
			complete(line, cluster_names, &out);
			buf_done(&out);
		}
		for (size_t i = 0; i < row->flags->count; i++) {
			snprintf(line, sizeof(line), "%s --%s .", row->name,
				row->flags->flag[i].name);
			complete(line, cluster_names, &out);
			buf_done(&out);
		}
	}
	const struct live_kind *k;
	for (size_t i = 0; (k = live_kind_at(i)); i++) {
		char line[128];
		struct buf out;
		snprintf(line, sizeof(line), "whatif --drop %s/", k->singular);
		complete(line, cluster_names, &out);
		buf_done(&out);
	}
}

/* ---- the cluster ------------------------------------------------------------------------------------ */

static void ask(
	const char *kind, const char *request, int status, const char *body, struct buf *out)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct scripted_server *server = scripted_server_new(loop);
	struct kube_config *config = config_for(scripted_server_url(server), NULL);
	struct kube_client *client =
		kube_client_new(loop, config, &(struct kube_client_options){0});
	script_answer(scripted_server_expect(server, request), status, "", body);
	buf_init(out, ANSWER_MAX);
	cluster_names_ask(loop, client, kind, "team", out);
	assert_int_equal(scripted_server_unexpected(server), 0);
	assert_int_equal(scripted_server_unused(server), 0);
	assert_non_null(strstr(scripted_server_request(server, 0)->head,
		"Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"));
	kube_client_free(client);
	kube_config_free(config);
	scripted_server_free(server);
	ev_loop_destroy(loop);
}

#define NAME(name) "{\"metadata\":{\"name\":\"" name "\"}}"
#define ITEMS(items) "{\"items\":[" items "]}"
#define TWO ITEMS(NAME("a") "," NAME("b"))

static void names_are_listed(void **state)
{
	(void)state;
	static const struct {
		const char *kind, *request;
		int status;
		const char *body, *lines;
	} cases[] = {
		{"JOB", "GET /apis/batch/v1/namespaces/team/jobs?labelSelector=sluice.dev/queue-name&limit=500 ",
			200, TWO, "a\nb\n"},
		{"UNQUEUED-JOB",
			"GET /apis/batch/v1/namespaces/team/jobs?labelSelector=!sluice.dev/queue-name&limit=500 ",
			200, TWO, "a\nb\n"},
		{"QUEUE", "GET /apis/sluice.dev/v1alpha1/namespaces/team/localqueues?limit=500 ",
			200, TWO, "a\nb\n"},
		{"CLASS", "GET /apis/sluice.dev/v1alpha1/workloadpriorityclasses?limit=500 ", 200,
			TWO, "a\nb\n"},
		{"NODE", "GET /api/v1/nodes?limit=500 ", 200, ITEMS(NAME("n.example")),
			"n.example\n"},
		{"NAMESPACE", "GET /api/v1/namespaces?limit=500 ", 403, "{}", ""},
		{"CALENDAR", "GET /apis/sluice.dev/v1alpha1/calendars?limit=500 ", 200, "what?",
			""},
		{"CLUSTERQUEUE", "GET /apis/sluice.dev/v1alpha1/clusterqueues?limit=500 ", 200,
			ITEMS(NAME("$(reboot)") "," NAME("a\\nb") ",{}," NAME("c")), "c\n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buf out;
		ask(cases[i].kind, cases[i].request, cases[i].status, cases[i].body, &out);
		assert_string_equal(buf_text(&out), cases[i].lines);
		buf_done(&out);
	}
}

static void there_is_a_script_for_each_shell(void **state)
{
	(void)state;
	assert_string_equal(command_find("completion")->words, "bash|zsh|fish");
	assert_int_equal(COMPLETION_SCRIPTS_COUNT, 3);
	for (size_t i = 0; i < COMPLETION_SCRIPTS_COUNT; i++) {
		assert_true(flag_choice("sluice.bash|sluice.zsh|sluice.fish",
				    COMPLETION_SCRIPTS[i].path) >= 0);
		assert_non_null(strstr(COMPLETION_SCRIPTS[i].text, "__complete"));
		assert_non_null(strstr(COMPLETION_SCRIPTS[i].text, "kubectl-sluice"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_completed),
		cmocka_unit_test(names_are_asked_for),
		cmocka_unit_test(every_flag_of_every_command_is_offered),
		cmocka_unit_test(every_value_that_is_offered_is_taken),
		cmocka_unit_test(every_kind_is_known),
		cmocka_unit_test(names_are_listed),
		cmocka_unit_test(there_is_a_script_for_each_shell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
