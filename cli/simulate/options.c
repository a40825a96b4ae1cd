#include "cli/simulate/options.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "controller/wire/decode_text.h"

/* What getopt_long returns: a letter, one of these, or SETTING + the index of settings.h. */
enum {
	OPT_TRACE = 256,
	OPT_COMPRESS,
	OPT_QUEUE,
	OPT_DEADLINE,
	OPT_START,
	OPT_ESTIMATES,
	OPT_MIN_PARALLELISM,
	OPT_GROW,
	OPT_UNTIL,
	OPT_SEED,
	SETTING = 512,
	FLAGS_MAX = 64,
};

static const struct option own_flags[] = {
	{"filename", required_argument, NULL, 'f'},
	{"output", required_argument, NULL, 'o'},
	{"trace", required_argument, NULL, OPT_TRACE},
	{"compress", required_argument, NULL, OPT_COMPRESS},
	{"queue", required_argument, NULL, OPT_QUEUE},
	{"trace-deadline", required_argument, NULL, OPT_DEADLINE},
	{"trace-start", required_argument, NULL, OPT_START},
	{"trace-estimates", required_argument, NULL, OPT_ESTIMATES},
	{"trace-min-parallelism", required_argument, NULL, OPT_MIN_PARALLELISM},
	{"trace-grow", no_argument, NULL, OPT_GROW},
	{"until", required_argument, NULL, OPT_UNTIL},
	{"seed", required_argument, NULL, OPT_SEED},
	{"help", no_argument, NULL, 'h'},
};

static void list_flags(struct option ret[FLAGS_MAX])
{
	size_t n = sizeof(own_flags) / sizeof(own_flags[0]);
	bool wants;
	const char *name;
	memcpy(ret, own_flags, sizeof(own_flags));
	for (size_t i = 0; (name = settings_flag(i, &wants)); i++) {
		must(n + 1 < FLAGS_MAX);
		ret[n++] = (struct option){name, wants, NULL, SETTING + (int)i};
	}
	ret[n] = (struct option){0};
}

static int take_manifest(const char *path, struct simulate_options *o, struct err *e)
{
	if (o->nmanifests == MANIFESTS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d files; put them into a directory",
			MANIFESTS_MAX);
	o->manifest[o->nmanifests++] = path;
	return 0;
}

static int take_output(const char *text, struct simulate_options *o, struct err *e)
{
	static const char *const names[] = {"table", "json", "svg"};
	for (int i = 0; i < 3; i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		o->output = (enum simulate_output)i;
		return 0;
	}
	return err_set(e, ERR_INVALID, "-o is \"%.60s\"; it must be table, json or svg", text);
}

static int take_compress(const char *text, struct simulate_options *o, struct err *e)
{
	char *end;
	o->compress = strtod(text, &end);
	if (end == text || *end || !isfinite(o->compress) || o->compress <= 0)
		return err_set(e, ERR_INVALID,
			"--compress is \"%.60s\"; it must be a number above 0, as in 1.5", text);
	return 0;
}

static int take_deadline(const char *text, struct simulate_options *o, struct err *e)
{
	if (text_duration(text, &o->terms.deadline_ms))
		return 0;
	return err_set(e, ERR_INVALID,
		"--trace-deadline is \"%.60s\"; it must be a duration such as 24h, within which each of the trace's jobs is to have ended",
		text);
}

/* One of two words; *ret: it is the second. */
static int take_word(const char *flag, const char *text, const char *first, const char *second,
	bool *ret, struct err *e)
{
	*ret = strcmp(text, second) == 0;
	if (*ret || strcmp(text, first) == 0)
		return 0;
	return err_set(
		e, ERR_INVALID, "%s is \"%.60s\"; it must be %s or %s", flag, text, first, second);
}

static int take_until(const char *text, struct simulate_options *o, struct err *e)
{
	o->has_until = true;
	o->until_is_time = text_time(text, &o->until_ms);
	if (!o->until_is_time && !text_duration(text, &o->until_ms))
		return err_set(e, ERR_INVALID,
			"--until is \"%.60s\"; it must be a duration such as 90s, 1h30m or 5400, or a time such as 2026-11-21T09:58:30Z",
			text);
	return 0;
}

static int take_min_parallelism(const char *text, struct simulate_options *o, struct err *e)
{
	char *end;
	double part = strtod(text, &end);
	o->terms.min_parallelism = part;
	if (end == text || *end || !isfinite(part) || part <= 0 || part > 1)
		return err_set(e, ERR_INVALID,
			"--trace-min-parallelism is \"%.60s\"; it must be a part of a job's processors above 0 and up to 1, as in 0.25",
			text);
	return 0;
}

static int take_seed(const char *text, struct simulate_options *o, struct err *e)
{
	if (!text_number(text, INT64_MAX, &o->terms.seed))
		return err_set(
			e, ERR_INVALID, "--seed is \"%.60s\"; it must be a whole number", text);
	return 0;
}

static int apply(int flag, const char *arg, struct simulate_options *o, struct err *e)
{
	switch (flag) {
	case 1: /* a name that is no flag: one more file */
	case 'f':
		return take_manifest(arg, o, e);
	case 'o':
		return take_output(arg, o, e);
	case 'h':
		o->help = true;
		return 0;
	case OPT_TRACE:
		o->trace = arg;
		return 0;
	case OPT_COMPRESS:
		return take_compress(arg, o, e);
	case OPT_QUEUE:
		o->queue = arg;
		return 0;
	case OPT_DEADLINE:
		return take_deadline(arg, o, e);
	case OPT_START:
		return take_word("--trace-start", arg, "Asap", "Cheapest", &o->terms.cheapest, e);
	case OPT_ESTIMATES:
		return take_word(
			"--trace-estimates", arg, "requested", "exact", &o->terms.exact, e);
	case OPT_MIN_PARALLELISM:
		return take_min_parallelism(arg, o, e);
	case OPT_GROW:
		o->terms.grow = true;
		return 0;
	case OPT_UNTIL:
		return take_until(arg, o, e);
	case OPT_SEED:
		return take_seed(arg, o, e);
	default:
		return settings_take(&o->settings, (size_t)(flag - SETTING), arg, e);
	}
}

static int unknown_flag(int argc, char **argv, int got, struct err *e)
{
	const char *arg = optind > 0 && optind <= argc ? argv[optind - 1] : "?";
	if (got == ':')
		return err_set(e, ERR_INVALID, "%.80s wants a value", arg);
	if (optopt >= 256)
		return err_set(e, ERR_INVALID, "%.80s: this flag takes no value", arg);
	return err_set(e, ERR_INVALID, "%.80s is not a flag of simulate", arg);
}

static int check(const struct simulate_options *o, struct err *e)
{
	if (o->help)
		return 0;
	if (o->nmanifests == 0)
		return err_set(e, ERR_INVALID,
			"there are no manifests; name them with -f, as in: sluice simulate -f queues.yaml");
	if (!o->trace &&
		(o->queue || o->compress != 1 || o->terms.deadline_ms > 0 || o->terms.cheapest ||
			o->terms.exact || o->terms.grow || o->terms.min_parallelism > 0))
		return err_set(e, ERR_INVALID,
			"--queue, --compress and --trace-... are for --trace FILE.swf");
	if (o->terms.grow && o->terms.min_parallelism <= 0)
		return err_set(e, ERR_INVALID,
			"--trace-grow needs --trace-min-parallelism, for only a Job that may start with fewer pods can grow");
	return 0;
}

static int parse_line(int argc, char **argv, struct simulate_options *o, struct err *e)
{
	struct option flags[FLAGS_MAX];
	list_flags(flags);
	optind = 0; /* glibc: begin anew, for the tests */
	opterr = 0;
	for (int flag; (flag = getopt_long(argc, argv, "-:f:o:h", flags, NULL)) != -1;) {
		if (flag == '?' || flag == ':')
			return unknown_flag(argc, argv, flag, e);
		int rc = apply(flag, optarg, o, e);
		if (rc)
			return rc;
	}
	for (; optind < argc; optind++) { /* behind "--" */
		int rc = take_manifest(argv[optind], o, e);
		if (rc)
			return rc;
	}
	int rc = check(o, e);
	return rc ? rc : settings_finish(&o->settings, e);
}

int simulate_options_parse(int argc, char **argv, struct simulate_options *ret, struct err *e)
{
	*ret = (struct simulate_options){.compress = 1};
	settings_init(&ret->settings);
	int rc = parse_line(argc, argv, ret, e);
	if (rc)
		simulate_options_done(ret);
	return rc;
}

void simulate_options_done(struct simulate_options *o)
{
	settings_done(&o->settings);
}
