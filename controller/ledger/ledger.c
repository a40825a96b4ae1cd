#include "controller/ledger/ledger.h"

#include <string.h>

#include "base/must.h"

const char *ledger_kind_name(enum ledger_kind k)
{
	switch (k) {
	case LEDGER_RESERVE:
		return "RESERVE";
	case LEDGER_ADOPT:
		return "ADOPT";
	case LEDGER_COMMIT:
		return "COMMIT";
	case LEDGER_STOP:
		return "STOP";
	case LEDGER_SHRINK:
		return "SHRINK";
	case LEDGER_GROW:
		return "GROW";
	case LEDGER_RELEASE:
		return "RELEASE";
	case LEDGER_VOID:
		return "VOID";
	case LEDGER_CEILING:
		return "CEILING";
	}
	must_not_get_here();
}

const char *ledger_outcome_name(enum ledger_job_outcome o)
{
	switch (o) {
	case LEDGER_JOB_GOES_ON:
		return NULL;
	case LEDGER_JOB_SUCCEEDED:
		return "Succeeded";
	case LEDGER_JOB_FAILED:
		return "Failed";
	case LEDGER_JOB_DELETED:
		return "Deleted";
	}
	must_not_get_here();
}

enum ledger_job_outcome ledger_outcome_named(const char *name)
{
	enum ledger_job_outcome o = LEDGER_JOB_DELETED;
	while (o != LEDGER_JOB_GOES_ON && (!name || strcmp(name, ledger_outcome_name(o)) != 0))
		o--;
	return o;
}

const char *ledger_state_name(enum ledger_state s)
{
	switch (s) {
	case LEDGER_PENDING:
		return "pending";
	case LEDGER_POSTED:
		return "posted";
	case LEDGER_RELEASING:
		return "releasing";
	}
	must_not_get_here();
}

enum ledger_state ledger_state_named(const char *name)
{
	enum ledger_state s = LEDGER_PENDING;
	while (strcmp(name, ledger_state_name(s)) != 0) /* which ends it at one that is unknown */
		s++;
	return s;
}

struct ledger_mark ledger_mark_since(int64_t since_ms)
{
	static const int64_t year_2000_ms = 946684800000, most_ms = INT64_MAX / 4000;
	if (since_ms > most_ms)
		since_ms = most_ms;
	if (since_ms < 0)
		since_ms = 0;
	return (struct ledger_mark){.ended_us = (since_ms - year_2000_ms) * 1000};
}
