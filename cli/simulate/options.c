#include "cli/simulate/options.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "controller/wire/decode_text.h"
#include "sluice/queue.h"

enum {
	OPT_TRACE = 256,
	OPT_COMPRESS,
	OPT_QUEUE,
	OPT_UNTIL,
	OPT_SEED,
	OPT_FAIR,
	OPT_FAIR_STRATEGIES,
};

static const struct option flags[] = {
	{"filename", required_argument, NULL, 'f'},
	{"output", required_argument, NULL, 'o'},
	{"trace", required_argument, NULL, OPT_TRACE},
	{"compress", required_argument, NULL, OPT_COMPRESS},
	{"queue", required_argument, NULL, OPT_QUEUE},
	{"until", required_argument, NULL, OPT_UNTIL},
	{"seed", required_argument, NULL, OPT_SEED},
	{"fair-sharing", no_argument, NULL, OPT_FAIR},
	{"fair-preemption-strategies", required_argument, NULL, OPT_FAIR_STRATEGIES},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

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

static int take_until(const char *text, struct simulate_options *o, struct err *e)
{
	o->has_until = true;
	o->until_is_time = text_time(text, &o->until_ms);
	if (!o->until_is_time && !text_duration(text, &o->until_ms))
		return err_set(e, ERR_INVALID,
			"--until is \"%.60s\"; it must be a duration such as 90s, 1h30m or 5400, "
			"or "
			"a time such as 2026-11-21T09:58:30Z",
			text);
	return 0;
}

/* Nothing is drawn by lot today; the flag is there so that scripts need not change. */
static int check_seed(const char *text, struct err *e)
{
	int64_t seed;
	if (!text_number(text, INT64_MAX, &seed))
		return err_set(
			e, ERR_INVALID, "--seed is \"%.60s\"; it must be a whole number", text);
	return 0;
}

static const char *const strategies[] = {
	[FAIR_LESS_THAN_OR_EQUAL_TO_FINAL_SHARE] = "LessThanOrEqualToFinalShare",
	[FAIR_LESS_THAN_INITIAL_SHARE] = "LessThanInitialShare",
};

static int take_strategies(const char *text, struct simulate_options *o, struct err *e)
{
	struct queue_config *c = &o->config;
	c->nfair_strategies = 0;
	for (const char *p = text;; p++) {
		size_t len = strcspn(p, ","), i = 0;
		while (i < 2 &&
			(strlen(strategies[i]) != len || strncmp(strategies[i], p, len) != 0))
			i++;
		if (i == 2 || c->nfair_strategies == 2 ||
			(c->nfair_strategies == 1 && c->fair_strategy[0] == i))
			return err_set(e, ERR_INVALID,
				"--fair-preemption-strategies is \"%.80s\"; it must be %s, %s, or "
				"both with a comma between them",
				text, strategies[0], strategies[1]);
		c->fair_strategy[c->nfair_strategies++] = (enum fair_strategy)i;
		p += len;
		if (*p == '\0')
			return 0;
	}
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
	case OPT_UNTIL:
		return take_until(arg, o, e);
	case OPT_SEED:
		return check_seed(arg, e);
	case OPT_FAIR:
		o->config.fair_sharing = true;
		return 0;
	case OPT_FAIR_STRATEGIES:
		return take_strategies(arg, o, e);
	default:
		must_not_get_here();
	}
	return 0;
}

static int unknown_flag(int argc, char **argv, int got, struct err *e)
{
	const char *arg = optind > 0 && optind <= argc ? argv[optind - 1] : "?";
	if (got == ':')
		return err_set(e, ERR_INVALID, "%.80s wants a value", arg);
	return err_set(e, ERR_INVALID, "%.80s is not a flag of simulate", arg);
}

static int check(const struct simulate_options *o, struct err *e)
{
	if (o->help)
		return 0;
	if (o->nmanifests == 0)
		return err_set(e, ERR_INVALID,
			"there are no manifests; name them with -f, as in: sluice simulate -f "
			"queues.yaml");
	if (!o->trace && (o->queue || o->compress != 1))
		return err_set(e, ERR_INVALID, "--queue and --compress are for --trace FILE.swf");
	return 0;
}

int simulate_options_parse(int argc, char **argv, struct simulate_options *ret, struct err *e)
{
	*ret = (struct simulate_options){.compress = 1};
	queue_config_default(&ret->config);
	optind = 0;
	opterr = 0;
	for (int flag; (flag = getopt_long(argc, argv, "-:f:o:h", flags, NULL)) != -1;) {
		if (flag == '?' || flag == ':')
			return unknown_flag(argc, argv, flag, e);
		int rc = apply(flag, optarg, ret, e);
		if (rc)
			return rc;
	}
	for (; optind < argc; optind++) { /* behind "--" */
		int rc = take_manifest(argv[optind], ret, e);
		if (rc)
			return rc;
	}
	return check(ret, e);
}
