/* What annotations say of a Job: its user's wishes, and Sluice's own story, read back. */
#include "wire_job.h"

static const struct story_row {
	const char *text;
	enum story_state state;
	int attempt;
	int64_t epoch;
} story_rows[] = {
	{"{\\'attempt\\':1,\\'state\\':\\'Started\\'}", STORY_STARTED, 1},
	{"{\\'attempt\\':7,\\'state\\':\\'Fenced\\',\\'more\\':[1]}", STORY_FENCED, 7},
	{"{\\'attempt\\':7,\\'state\\':\\'Fenced\\',\\'epoch\\':12}", STORY_FENCED, 7, 12},
	{"{\\'attempt\\':7,\\'state\\':\\'Fenced\\',\\'epoch\\':-1}", STORY_FENCED, 7, 0},
	{"{\\'state\\':\\'Fenced\\',\\'epoch\\':12}", STORY_NONE, 0},
	{"", STORY_NONE, 0},
	{"not json", STORY_NONE, 0},
	{"{\\'attempt\\':1", STORY_NONE, 0},
	{"{\\'attempt\\':1,\\'state\\':\\'Sleeping\\'}", STORY_NONE, 0},
	{"{\\'attempt\\':0,\\'state\\':\\'Started\\'}", STORY_NONE, 0},
	{"{\\'attempt\\':0,\\'state\\':\\'Stopped\\'}", STORY_STOPPED, 0},
	{"{\\'attempt\\':-1,\\'state\\':\\'Stopped\\'}", STORY_NONE, 0},
	{"{\\'attempt\\':-3,\\'state\\':\\'Started\\'}", STORY_NONE, 0},
	{"{\\'attempt\\':2147483648,\\'state\\':\\'Started\\'}", STORY_NONE, 0},
	{"{\\'attempt\\':2147483647,\\'state\\':\\'Fenced\\'}", STORY_NONE,
		0}, /* a tenant's: the next would be none */
	{"{\\'attempt\\':\\'1\\',\\'state\\':\\'Started\\'}", STORY_NONE, 0},
	{"[1]", STORY_NONE, 0},
};

static void a_story_is_kept_even_when_it_makes_no_sense(void **state)
{
	char text[200];
	(void)state;
	for (size_t i = 0; i < sizeof(story_rows) / sizeof(*story_rows); i++) {
		const struct story_row *r = &story_rows[i];
		snprintf(
			text, sizeof(text), "'annotations':{'sluice.dev/admission':'%s'}", r->text);
		struct job *j = job_with(text, "", "");
		assert_non_null(j->admission.story);
		assert_int_equal(j->admission.state, r->state);
		assert_int_equal(j->admission.attempt, r->attempt);
		assert_int_equal(j->admission.epoch, r->epoch);
		assert_null(j->invalid);
		free(j);
	}
}

static void when_a_story_was_written_is_read_back(void **state)
{
	(void)state;
	struct job *j =
		job_with("'annotations':{'sluice.dev/admission':'{\\'attempt\\':1,\\'state\\':"
			 "\\'Stopped\\',\\'at\\':\\'1970-01-01T00:01:40Z\\'}'}",
			"", "");
	assert_int_equal(j->admission.told_ms, 100000);
	free(j);
}

static void how_many_pods_ran_is_read_back(void **state)
{
	(void)state;
	struct job *j =
		job_with("'annotations':{'sluice.dev/admission':'{\\'attempt\\':1,\\'state\\':"
			 "\\'Stopped\\',\\'pods\\':2}'}",
			"'parallelism':5", "");
	assert_int_equal(j->admission.run_pods, 2);
	assert_int_equal(j->parallelism, 5);
	assert_int_equal(j->admission.owner_parallelism, 0);
	free(j);
}

static void what_kept_its_pods_is_read_back(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"\\'trouble\\':\\'Unschedulable: its pod\\'", "Unschedulable: its pod"},
		{"\\'trouble\\':\\'two\\\\nlines\\'", "two lines"},
		{"\\'trouble\\':\\'\\'", NULL},
		{"\\'trouble\\':7", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[200];
		snprintf(text, sizeof(text),
			"'annotations':{'sluice.dev/admission':'{\\'attempt\\':1,\\'state\\':"
			"\\'Stopped\\',%s}'}",
			rows[i].text);
		struct job *j = job_with(text, "", "");
		assert_int_equal(j->admission.state, STORY_STOPPED);
		if (rows[i].says)
			assert_string_equal(j->admission.trouble, rows[i].says);
		else
			assert_null(j->admission.trouble);
		assert_null(j->invalid);
		free(j);
	}
}

static const struct hold_row {
	const char *value, *hold;
} hold_rows[] = {{"false", NULL}, {"true", "true"}, {"", ""}, {"by anna", "by anna"},
	{"Gr\xC3\xB6\xC3\x9F"
	 "e pr\xC3\xBC"
	 "fen,\\nsiehe Ticket",
		"Gr\xC3\xB6\xC3\x9F"
		"e pr\xC3\xBC"
		"fen,?siehe Ticket"},
	{"\xC2\x9B"
	 "31m\xE6\xBC\xA2",
		"?31m\xE6\xBC\xA2"}};

/* Whatever an authenticator calls its users: never a fault, and never more than a bill keeps. */
static void who_submitted_it(void **state)
{
	static const struct {
		const char *text, *is; /* NULL: not known */
	} rows[] = {
		{"'alice@example.com'", "alice@example.com"},
		{"'system:serviceaccount:ci:runner'", "system:serviceaccount:ci:runner"},
		{"'CN=J\u00f6rg, OU=R\\\\D'", "CN=J\xc3\xb6rg, OU=R\\D"},
		{"'two\\nlines'", "two lines"},
		{"''", NULL},
		{"7", NULL},
	};
	char text[600], name[400];
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text), "'annotations':{'sluice.dev/submitted-by':%s}",
			rows[i].text);
		struct job *j = job_with(text, "", "");
		assert_null(j->invalid);
		if (rows[i].is)
			assert_string_equal(j->submitted_by, rows[i].is);
		else
			assert_null(j->submitted_by);
		free(j);
	}
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text), "'annotations':{'sluice.dev/submitted-by':'%s'}", name);
	struct job *j = job_with(text, "", "");
	assert_null(j->invalid);
	assert_int_equal(strlen(j->submitted_by), SUBMITTER_MAX_BYTES);
	free(j);
}

/* It takes no Job forward, and what is no time is no fault. */
static void since_when_it_is_queued(void **state)
{
	static const struct {
		const char *text;
		int64_t at_ms, queued_ms;
	} rows[] = {
		{"'2026-11-21T10:00:00Z'", 1795255200000, 1795255200000},
		{"'2026-11-21T12:00:00+02:00'", 1795255200000, 1795255200000},
		{"'2026-11-21T09:00:00Z'", 1795251600000, 1795255110000},
		{"'1969-01-01T00:00:00Z'", 0, 1795255110000},
		{"'yesterday'", 0, 1795255110000},
		{"''", 0, 1795255110000},
		{"7", 0, 1795255110000},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[200];
		snprintf(text, sizeof(text),
			"'creationTimestamp':'2026-11-21T09:58:30Z',"
			"'annotations':{'sluice.dev/queued-at':%s}",
			rows[i].text);
		struct job *j = job_with(text, "", "");
		assert_null(j->invalid);
		assert_int_equal(j->queued_at_ms, rows[i].at_ms);
		assert_int_equal(job_queued_ms(j), rows[i].queued_ms);
		free(j);
	}
}

static void held_unless_false(void **state)
{
	char text[100];
	(void)state;
	for (size_t i = 0; i < sizeof(hold_rows) / sizeof(*hold_rows); i++) {
		snprintf(text, sizeof(text), "'annotations':{'sluice.dev/hold':'%s'}",
			hold_rows[i].value);
		struct job *j = job_with(text, "", "");
		if (hold_rows[i].hold)
			assert_string_equal(j->hold, hold_rows[i].hold);
		else
			assert_null(j->hold);
		free(j);
	}
}

#define INDEXED "'parallelism':4,'completions':4,'completionMode':'Indexed'"

/* A gang that Kubernetes schedules (alpha in 1.37): with fewer pods than minCount the API server refuses it. */
#define GANG(gang) "'parallelism':4,'scheduling':{'schedulingPolicy':{'gang':" gang "}}"

static const struct partial_row {
	const char *annotation, *spec;
	int32_t least; /* min_parallelism */
	bool follow;
	const char *sentence; /* NULL: fine */
	enum job_grow grow;
} partial_rows[] = {
	{"'sluice.dev/min-parallelism':'2'", "'parallelism':4", 2, false, NULL},
	{"'sluice.dev/min-parallelism':'3'", "'parallelism':4", 3, false, NULL},
	{"'sluice.dev/min-parallelism':'4'", "'parallelism':4", 0, false,
		"sluice.dev/min-parallelism: \"4\" is not less than spec.parallelism, which is "
		"4; lower it, or remove it to start with all pods only"},
	{"'sluice.dev/min-parallelism':'1'", "", 0, false,
		"sluice.dev/min-parallelism: \"1\" is not less than spec.parallelism, which is "
		"1; lower it, or remove it to start with all pods only"},
	{"'sluice.dev/min-parallelism':'0'", "'parallelism':4", 0, false,
		"sluice.dev/min-parallelism: \"0\" is not a number of pods; write e.g. 2"},
	{"'sluice.dev/min-parallelism':'two'", "'parallelism':4", 0, false,
		"sluice.dev/min-parallelism: \"two\" is not a number of pods; write e.g. 2"},
	{"'sluice.dev/min-parallelism':2", "'parallelism':4", 0, false,
		"sluice.dev/min-parallelism: must be a string"},
	{"'sluice.dev/min-parallelism':'2','sluice.dev/grow':'true'", "'parallelism':4", 2, false,
		NULL, GROW_YES},
	{"'sluice.dev/min-parallelism':'2','sluice.dev/grow':'false'", "'parallelism':4", 2, false,
		NULL, GROW_NO},
	{"'sluice.dev/grow':'false'", "'parallelism':4", 0, false, NULL, GROW_NO},
	{"'sluice.dev/grow':'true'", "'parallelism':4", 0, false,
		"sluice.dev/grow: needs annotation sluice.dev/min-parallelism, for only a run "
		"that may start with fewer pods can grow; add that, or remove this"},
	{"'sluice.dev/min-parallelism':'2','sluice.dev/grow':'yes'", "'parallelism':4", 2, false,
		"sluice.dev/grow: \"yes\" is neither \"true\" nor \"false\""},
	{"'sluice.dev/min-parallelism':'2','sluice.dev/grow':true", "'parallelism':4", 2, false,
		"sluice.dev/grow: must be a string"},
	{"'sluice.dev/min-parallelism':'4','sluice.dev/grow':'true'", "'parallelism':4", 0, false,
		"sluice.dev/min-parallelism: \"4\" is not less than spec.parallelism, which is "
		"4; lower it, or remove it to start with all pods only",
		GROW_YES},
	{"'sluice.dev/min-parallelism':'1'", GANG("{'minCount':3}"), 3, false, NULL},
	{"'sluice.dev/min-parallelism':'3'", GANG("{'minCount':2}"), 3, false, NULL},
	{"'sluice.dev/min-parallelism':'1'", GANG("{'minCount':4}"), 4, false, NULL},
	{"'sluice.dev/min-parallelism':'1'", GANG("{}"), 1, false, NULL},
	{"'sluice.dev/min-parallelism':'1'", GANG("{'minCount':'3'}"), 1, false, NULL},
	{"'sluice.dev/queue':'q'", GANG("{'minCount':3}"), 0, false, NULL},
	{"'sluice.dev/completions-equal-parallelism':'true'", INDEXED, 0, true, NULL},
	{"'sluice.dev/completions-equal-parallelism':'false'", "", 0, false, NULL},
	{"'sluice.dev/completions-equal-parallelism':'yes'", INDEXED, 0, false,
		"sluice.dev/completions-equal-parallelism: \"yes\" is neither \"true\" nor "
		"\"false\""},
	{"'sluice.dev/completions-equal-parallelism':'true'", "'parallelism':4,'completions':4", 0,
		false,
		"sluice.dev/completions-equal-parallelism: needs completionMode Indexed and "
		"completions equal to parallelism, for Kubernetes changes the completions of no "
		"other Job; remove it"},
};

static void fewer_pods_than_asked_for(void **state)
{
	char meta[200], sentence[400];
	(void)state;
	for (size_t i = 0; i < sizeof(partial_rows) / sizeof(*partial_rows); i++) {
		const struct partial_row *r = &partial_rows[i];
		snprintf(meta, sizeof(meta), "'annotations':{%s}", r->annotation);
		snprintf(sentence, sizeof(sentence), "Job team-a/train: metadata.annotations.%s",
			r->sentence ? r->sentence : "");
		struct job *j = job_with(meta, r->spec, "");
		if (j->min_parallelism != r->least || j->completions_follow != r->follow ||
			j->grow != r->grow ||
			(r->sentence ? !j->invalid || strcmp(j->invalid, sentence) != 0
				     : j->invalid != NULL))
			fail_msg("%s: %s", r->annotation, j->invalid ? j->invalid : "");
		free(j);
	}
}

/* A Job whose story says that 3 of 8 pods were let in, with this in its spec. */
static struct job *let_in_with_three(const char *state, const char *spec)
{
	char meta[400];
	snprintf(meta, sizeof(meta),
		"'annotations':{'sluice.dev/min-parallelism':'3','sluice.dev/admission':"
		"'{\\'attempt\\':1,\\'state\\':\\'%s\\',\\'pods\\':3,\\'parallelism\\':8,"
		"\\'completions\\':8,\\'history\\':{\\'requeues\\':2,\\'ranMs\\':5000,"
		"\\'notBeforeMs\\':7,\\'evictedMs\\':1795255110001,\\'suspensions\\':3,"
		"\\'reclaimsPaidMs\\':1795255410000}}'}",
		state);
	return job_with(meta, spec, "");
}

static void what_its_owner_wrote_comes_back(void **state)
{
	(void)state;
	struct job *j = let_in_with_three("Started",
		"'suspend':false,'parallelism':3,'completions':3,'completionMode':'Indexed'");
	assert_int_equal(j->admission.owner_parallelism, 8);
	assert_int_equal(j->admission.owner_completions, 8);
	assert_int_equal(j->parallelism, 3); /* what runs */
	assert_int_equal(j->min_parallelism, 3);
	assert_null(j->invalid);
	assert_int_equal(j->admission.history.requeues, 2);
	assert_int_equal(j->admission.history.ran_ms, 5000);
	assert_int_equal(j->admission.history.not_before_ms, 7);
	assert_int_equal(j->admission.history.evicted_ms, 1795255110001);
	assert_int_equal(j->admission.history.suspensions, 3);
	assert_int_equal(j->admission.history.reclaims_paid_ms, 1795255410000);
	free(j);
	j = let_in_with_three("Started",
		"'suspend':true,'parallelism':3,'completions':3,'completionMode':'Indexed'");
	assert_int_equal(j->admission.owner_parallelism, 8);
	assert_int_equal(j->parallelism, 8); /* what it asks for */
	assert_int_equal(j->completions, 8);
	free(j);
	/* Its owner has other ideas since. */
	j = let_in_with_three("Started",
		"'suspend':false,'parallelism':5,'completions':5,'completionMode':'Indexed'");
	assert_int_equal(j->admission.owner_parallelism, 0);
	assert_int_equal(j->parallelism, 5);
	free(j);
	j = let_in_with_three("Stopped", "'suspend':true,'parallelism':8");
	assert_int_equal(j->admission.owner_parallelism, 0);
	assert_int_equal(j->admission.history.requeues, 2);
	free(j);
}

static const struct duration_row {
	const char *text;
	int64_t ms; /* 0: invalid */
} duration_rows[] = {
	{"5400", 5400000},
	{"1h30m", 5400000},
	{"1.5h", 5400000},
	{".5h", 1800000},
	{"1.h", 3600000},
	{"90s", 90000},
	{"1500ms", 1500},
	{"1m0.5s", 60500},
	{"1ns", 1},
	{"2us", 1},
	{"876000h", INT64_C(3153600000000)},
	{"876001h", 0},
	{"3153600000", INT64_C(3153600000000)},
	{"3153600001", 0},
	{"99999999999999999999h", 0},
	{"0", 0},
	{"0s", 0},
	{"-1h", 0},
	{"1", 1000},
	{"1.5", 0},
	{"h", 0},
	{".h", 0},
	{"1h 30m", 0},
	{"1d", 0},
	{" 1h", 0},
	{"1hm", 0},
};

static void durations(void **state)
{
	char text[100];
	(void)state;
	for (size_t i = 0; i < sizeof(duration_rows) / sizeof(*duration_rows); i++) {
		snprintf(text, sizeof(text), "'annotations':{'sluice.dev/expected-duration':'%s'}",
			duration_rows[i].text);
		struct job *j = job_with(text, "", "");
		if (j->durations.expected_ms != duration_rows[i].ms ||
			(j->invalid != NULL) != (duration_rows[i].ms == 0))
			fail_msg("%s: %lld %s", duration_rows[i].text,
				(long long)j->durations.expected_ms, j->invalid ? j->invalid : "");
		free(j);
	}
}

static void nices(void **state)
{
	static const struct {
		const char *annotations;
		int32_t nice;
	} row[] = {{"", 0}, {"'sluice.dev/nice':'0'", 0}, {"'sluice.dev/nice':'-100'", -100},
		{"'sluice.dev/nice':'100'", 100}, {"'sluice.dev/nice':'-7'", -7},
		{"'sluice.dev/nice':'007'", 7}};
	char text[100];
	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		snprintf(text, sizeof(text), "'annotations':{%s}", row[i].annotations);
		struct job *j = job_with(text, "", "");
		assert_null(j->invalid);
		assert_int_equal(j->nice, row[i].nice);
		free(j);
	}
}

#define ORIGINAL "\\'original\\':{\\'nodeSelector\\':{\\'own\\':\\'1\\'},\\'tolerations\\':[]}"
#define APPLIED                                                                                    \
	"\\'applied\\':{\\'nodeSelector\\':{\\'own\\':\\'1\\',\\'pool\\':\\'spot\\'},"             \
	"\\'tolerations\\':[{\\'key\\':\\'spot\\',\\'operator\\':\\'Exists\\'},"                   \
	"{\\'key\\':\\'b\\',\\'operator\\':\\'Equal\\'}]}"

static const struct directives_row {
	const char *name, *annotation, *pod;
	size_t nselector, ntolerations; /* the user's own */
	bool redirected;
} directives_rows[] = {
	{"as it was applied, in another order", "{" ORIGINAL "," APPLIED "}",
		"'nodeSelector':{'pool':'spot','own':'1'},"
		"'tolerations':[{'key':'b'},{'key':'spot','operator':'Exists'}]",
		1, 0},
	{"edited since", "{" ORIGINAL "," APPLIED "}",
		"'nodeSelector':{'pool':'spot','own':'2'},"
		"'tolerations':[{'key':'spot','operator':'Exists'},{'key':'b'}]",
		2, 2, true},
	{"a toleration added since", "{" ORIGINAL "," APPLIED "}",
		"'nodeSelector':{'pool':'spot','own':'1'},"
		"'tolerations':[{'key':'spot','operator':'Exists'},{'key':'b'},{'key':'c'}]",
		2, 3, true},
	{"everything removed since", "{" ORIGINAL "," APPLIED "}", "", 0, 0, true},
	{"no sense", "{" ORIGINAL "}", "'nodeSelector':{'pool':'spot'}", 1, 0},
	{"no JSON", "{", "'nodeSelector':{'pool':'spot'}", 1, 0},
	{"wrong inside", "{\\'original\\':{\\'nodeSelector\\':7}," APPLIED "}",
		"'nodeSelector':{'pool':'spot','own':'1'},"
		"'tolerations':[{'key':'spot','operator':'Exists'},{'key':'b'}]",
		2, 2},
};

static void a_users_own_directives_come_back(void **state)
{
	char text[1000];
	(void)state;
	for (size_t i = 0; i < sizeof(directives_rows) / sizeof(*directives_rows); i++) {
		const struct directives_row *r = &directives_rows[i];
		snprintf(text, sizeof(text),
			"'annotations':{'sluice.dev/original-directives':'%s'}", r->annotation);
		struct job *j = job_with(text, "'suspend':true", r->pod);
		assert_false(j->redirected); /* its owner may write what they like */
		free(j);
		j = job_with(text, "", r->pod);
		assert_null(j->invalid);
		if (j->redirected != r->redirected)
			fail_msg("%s: redirected", r->name);
		if (j->placement.nnode_selector != r->nselector ||
			j->placement.ntolerations != r->ntolerations)
			fail_msg("%s: %zu, %zu", r->name, j->placement.nnode_selector,
				j->placement.ntolerations);
		free(j);
	}
}

/* One value after the other in as few bytes as can be, up to what the API server takes. */
static void the_largest_annotation_is_read(void **state)
{
	enum { MOST = 256 * 1024 };
	static const char begin[] = "{\\'original\\':{\\'x\\':[0",
			  end[] = "]},\\'applied\\':{\\'labels\\':{\\'team\\':\\'x\\'}}}";
	struct buf b;
	(void)state;
	buf_init(&b, 4 << 20);
	buf_puts(&b, "{'kind':'Job','metadata':{'name':'train','namespace':'team-a'," UID
		     ",'annotations':{'sluice.dev/original-directives':'");
	buf_puts(&b, begin);
	for (size_t n = (MOST - sizeof(begin) - sizeof(end)) / 2; n > 0; n--)
		buf_puts(&b, ",0");
	buf_puts(&b, end);
	buf_puts(&b, "'}},'spec':{'template':{'metadata':{'labels':{'team':'x'}}}}}");
	struct job *j = decoded(buf_text(&b));
	assert_int_equal(j->metadata.labels.nold, 1);
	assert_int_equal(j->metadata.labels.nown, 0);
	free(j);
	buf_done(&b);
}

static void put_keys(struct buf *b, const char *quote, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%s%sk%zu%s:%sx%s", i ? "," : "", quote, i, quote, quote, quote);
}

/* Any client may have written the annotation, where no policy keeps it from that. */
static void too_many_keys_are_all_its_owners(void **state)
{
	static const struct {
		size_t has, applied, old;
	} rows[] = {{1024, 512, 512}, {1025, 512, 0}, {1, 512, 1}, {1, 513, 0}, {16384, 32, 32},
		{16384, 33, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buf b;
		buf_init(&b, 4 << 20);
		buf_puts(&b, "{'kind':'Job','metadata':{'name':'train','namespace':'team-a'," UID
			     ",'annotations':{'sluice.dev/original-directives':"
			     "'{\\'original\\':{},\\'applied\\':{\\'labels\\':{");
		put_keys(&b, "\\'", rows[i].applied);
		buf_puts(&b, "}}}'}},'spec':{'template':{'metadata':{'labels':{");
		put_keys(&b, "'", rows[i].has);
		buf_puts(&b, "}}}}}");
		struct job *j = decoded(buf_text(&b));
		if (j->metadata.labels.nold != rows[i].old ||
			j->metadata.labels.nown != rows[i].has - rows[i].old)
			fail_msg("row %zu: %zu, %zu", i, j->metadata.labels.nold,
				j->metadata.labels.nown);
		free(j);
		buf_done(&b);
	}
}

/* 3 of 8 pods run; somebody applies the manifest again. */
static void a_manifest_that_is_applied_again(void **state)
{
	static const struct {
		const char *spec;
		bool reapplied;
	} rows[] = {
		{"'suspend':false,'parallelism':8,'completions':8", true},
		{"'suspend':false,'parallelism':8,'completions':3", true},
		{"'suspend':false,'parallelism':3,'completions':3", false}, /* as applied */
		{"'suspend':false,'parallelism':9,'completions':9", false},
		{"'suspend':false,'parallelism':5,'completions':8", false},
		{"'suspend':false,'parallelism':8,'completions':5", false},
		{"'suspend':true,'parallelism':8,'completions':8", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct job *j = job_with("'annotations':{'sluice.dev/admission':'{\\'attempt\\':1,"
					 "\\'state\\':\\'Started\\',\\'pods\\':3,"
					 "\\'parallelism\\':8,\\'completions\\':8}'}",
			rows[i].spec, "");
		if (j->admission.reapplied != rows[i].reapplied)
			fail_msg("%s", rows[i].spec);
		free(j);
	}
}

/* metadata.managedFields as Kubernetes 1.36 writes them (test/e2e/test_accident.py makes the same
 * by the same requests, and sees what the controller makes of them). */
#define SETS_SUSPEND "'fieldsV1':{'f:spec':{'f:suspend':{}}}"
#define ENTRY(manager, operation, fields)                                                          \
	"{'manager':'" manager "','operation':'" operation                                         \
	"','apiVersion':'batch/v1','time':'2026-11-22T20:00:00Z','fieldsType':'FieldsV1'," fields  \
	"}"
#define CREATED ENTRY("kubectl-create", "Update", "'fieldsV1':{'f:spec':{'f:parallelism':{}}}") ","
#define STARTED "{\\'attempt\\':1,\\'state\\':\\'Started\\'}"

static const struct suspender_row {
	const char *name, *fields;
	bool suspend, person;
} suspender_rows[] = {
	{"kubectl patch", CREATED ENTRY("kubectl-patch", "Update", SETS_SUSPEND), true, true},
	{"kubectl edit", CREATED ENTRY("kubectl-edit", "Update", SETS_SUSPEND), true, true},
	{"a person, and a tool that agrees",
		ENTRY("argocd-controller", "Apply", SETS_SUSPEND) "," ENTRY(
			"kubectl-patch", "Update", SETS_SUSPEND),
		true, true},
	{"but it runs", ENTRY("kubectl-patch", "Update", SETS_SUSPEND), false, false},
	{"kubectl patch of something else",
		ENTRY("kubectl-patch", "Update",
			"'fieldsV1':{'f:spec':{'f:parallelism':{}}}") "," ENTRY("kubectl-client-"
										"side-apply",
			"Update", SETS_SUSPEND),
		true, false},
	{"kubectl apply", ENTRY("kubectl-client-side-apply", "Update", SETS_SUSPEND), true, false},
	{"kubectl apply --server-side", ENTRY("kubectl", "Apply", SETS_SUSPEND), true, false},
	{"kubectl patch as another", ENTRY("kubectl-patch", "Apply", SETS_SUSPEND), true, false},
	{"kubectl replace", ENTRY("kubectl-replace", "Update", SETS_SUSPEND), true, false},
	{"Helm", ENTRY("helm", "Update", SETS_SUSPEND), true, false},
	{"Argo CD", ENTRY("argocd-controller", "Apply", SETS_SUSPEND), true, false},
	{"Flux", ENTRY("kustomize-controller", "Apply", SETS_SUSPEND), true, false},
	{"a client nobody knows", ENTRY("python-requests", "Update", SETS_SUSPEND), true, false},
	{"nobody", CREATED "{}", true, false},
	{"nonsense",
		"1,null,'x',{'manager':1},{'manager':'kubectl-patch'},"
		"{'manager':'kubectl-patch','operation':'Update','fieldsV1':[1]}",
		true, false},
};

static void who_suspended_a_job_that_runs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(suspender_rows) / sizeof(*suspender_rows); i++) {
		const struct suspender_row *r = &suspender_rows[i];
		static const char *const stories[] = {STARTED, ""};
		for (size_t k = 0; k < 2; k++) {
			char text[2000];
			snprintf(text, sizeof(text),
				"'annotations':{'sluice.dev/admission':'%s'},'managedFields':[%s]",
				stories[k], r->fields);
			struct job *j = job_with(
				text, r->suspend ? "'suspend':true" : "'suspend':false", "");
			if (j->suspended_by_person != (r->person && k == 0))
				fail_msg("%s, story '%s'", r->name, stories[k]);
			free(j);
		}
	}
}

/* A person before others; else the last that wrote. Cut to 64 bytes. */
static void who_suspended_it_is_named(void **state)
{
#define X16 "xxxxxxxxxxxxxxxx"
	static const char early[] = "{'manager':'argocd-controller','operation':'Apply','time':"
				    "'2026-11-22T19:00:00Z'," SETS_SUSPEND "}";
	static const char late[] = "{'manager':'helm','operation':'Update','time':"
				   "'2026-11-22T21:00:00Z'," SETS_SUSPEND "}";
	static const char person[] = ENTRY("kubectl-edit", "Update", SETS_SUSPEND);
	static const char ours[] = ENTRY("sluice-controller", "Update", SETS_SUSPEND);
	static const char timeless[] = "{'manager':'" X16 X16 X16 X16 "y'," SETS_SUSPEND "}";
	static const struct {
		const char *one, *other, *name;
		int64_t at_ms;
	} rows[] = {{person, late, "kubectl-edit", INT64_C(1795377600000)},
		{late, person, "kubectl-edit", INT64_C(1795377600000)},
		{early, late, "helm", INT64_C(1795381200000)},
		{late, early, "helm", INT64_C(1795381200000)},
		{ours, early, "argocd-controller", INT64_C(1795374000000)},
		{timeless, ours, X16 X16 X16 X16, 0}, {ours, "{}", NULL, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[2000];
		snprintf(text, sizeof(text),
			"'annotations':{'sluice.dev/admission':'" STARTED
			"'},'managedFields':[%s,%s]",
			rows[i].one, rows[i].other);
		struct job *j = job_with(text, "'suspend':true", "");
		if (rows[i].name)
			assert_string_equal(j->suspender, rows[i].name);
		else
			assert_null(j->suspender);
		assert_true(j->suspended_ms == rows[i].at_ms);
		free(j);
	}
}

static void who_unsuspended_a_job_that_runs(void **state)
{
	static const struct {
		const char *name, *fields;
		bool other;
	} rows[] = {
		{"Sluice", ENTRY("sluice-controller", "Update", SETS_SUSPEND), false},
		{"Sluice, and a tool that agrees",
			ENTRY("argocd-controller", "Apply", SETS_SUSPEND) "," ENTRY(
				"sluice-controller", "Update", SETS_SUSPEND),
			false},
		{"its owner",
			ENTRY("sluice-controller", "Update",
				"'fieldsV1':{'f:metadata':{}}") "," ENTRY("kubectl-patch", "Update",
				SETS_SUSPEND),
			true},
		{"nobody is named", CREATED "{}", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int k = 0; k < 4; k++) {
			char text[2000];
			snprintf(text, sizeof(text),
				"'annotations':{'sluice.dev/admission':'%s'},'managedFields':[%s]",
				k & 1 ? "" : STARTED, rows[i].fields);
			struct job *j =
				job_with(text, k & 2 ? "'suspend':true" : "'suspend':false", "");
			if (j->resumed_by_other != (rows[i].other && !(k & 2)))
				fail_msg("%s, %d", rows[i].name, k);
			free(j);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_story_is_kept_even_when_it_makes_no_sense),
		cmocka_unit_test(when_a_story_was_written_is_read_back),
		cmocka_unit_test(how_many_pods_ran_is_read_back),
		cmocka_unit_test(what_kept_its_pods_is_read_back),
		cmocka_unit_test(who_submitted_it),
		cmocka_unit_test(since_when_it_is_queued),
		cmocka_unit_test(held_unless_false),
		cmocka_unit_test(fewer_pods_than_asked_for),
		cmocka_unit_test(a_manifest_that_is_applied_again),
		cmocka_unit_test(who_suspended_a_job_that_runs),
		cmocka_unit_test(who_suspended_it_is_named),
		cmocka_unit_test(who_unsuspended_a_job_that_runs),
		cmocka_unit_test(what_its_owner_wrote_comes_back),
		cmocka_unit_test(durations),
		cmocka_unit_test(nices),
		cmocka_unit_test(a_users_own_directives_come_back),
		cmocka_unit_test(the_largest_annotation_is_read),
		cmocka_unit_test(too_many_keys_are_all_its_owners),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
