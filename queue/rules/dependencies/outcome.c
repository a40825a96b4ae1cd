#include "queue/rules/dependencies/outcome.h"

enum outcome outcome_of(const struct predecessor *p)
{
	switch (p->state) {
	case PREDECESSOR_WAITS:
		return OUTCOME_WAITS;
	case PREDECESSOR_STARTED:
		return p->deleted ? OUTCOME_DELETED : p->gone ? OUTCOME_VANISHED : OUTCOME_RUNS;
	case PREDECESSOR_SUCCEEDED:
		return OUTCOME_SUCCEEDED;
	case PREDECESSOR_FAILED:
		return OUTCOME_FAILED;
	}
	return OUTCOME_WAITS;
}

bool outcome_ended(enum outcome o)
{
	return o == OUTCOME_SUCCEEDED || o == OUTCOME_FAILED;
}

static enum dependency_verdict when(bool holds, bool never)
{
	return holds ? VERDICT_HOLDS : never ? VERDICT_NEVER : VERDICT_WAITS;
}

enum dependency_verdict outcome_verdict(enum outcome o, enum dependency_kind k)
{
	bool ended = o != OUTCOME_WAITS && o != OUTCOME_RUNS && o != OUTCOME_NONE;
	bool badly = o == OUTCOME_FAILED || o == OUTCOME_DELETED;
	switch (k) {
	case AFTER_OK:
		return when(o == OUTCOME_SUCCEEDED, badly);
	case AFTER_NOT_OK:
		return when(badly, o == OUTCOME_SUCCEEDED);
	case AFTER_ANY:
		return when(ended, false);
	case AFTER_START:
		return when(ended || o == OUTCOME_RUNS, false);
	case AFTER_SINGLETON:
		break;
	}
	return VERDICT_HOLDS; /* the rule of singletons judges it (singleton.c) */
}
