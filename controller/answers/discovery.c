#include "controller/answers/discovery.h"

#include <string.h>

#include "controller/answers/job_query.h"

#define NAMED "dev.sluice.visibility.v1alpha1."
#define META "io.k8s.apimachinery.pkg.apis.meta.v1."
#define KIND(kind)                                                                                 \
	"{\"group\":\"" VISIBILITY_GROUP "\",\"version\":\"" VISIBILITY_VERSION                    \
	"\",\"kind\":\"" kind "\"}"
#define OPENAPI_PATH "/openapi/v3" VISIBILITY_ROOT

/* ---- groups and resources -------------------------------------------------------------------- */

#define VERSION                                                                                    \
	"{\"groupVersion\":\"" VISIBILITY_GROUP "/" VISIBILITY_VERSION                             \
	"\",\"version\":\"" VISIBILITY_VERSION "\"}"
#define GROUP_MEMBERS                                                                              \
	"\"name\":\"" VISIBILITY_GROUP "\",\"versions\":[" VERSION "],\"preferredVersion\":" VERSION

static const char GROUPS[] =
	"{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[{" GROUP_MEMBERS "}]}\n";
static const char GROUP[] = "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\"," GROUP_MEMBERS "}\n";
static const char RESOURCES[] =
	"{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"" VISIBILITY_GROUP
	"/" VISIBILITY_VERSION "\",\"resources\":["
	"{\"name\":\"queuedjobs\",\"singularName\":\"queuedjob\",\"namespaced\":true,\"kind\":\"QueuedJob\","
	"\"verbs\":[\"get\",\"list\",\"watch\"],\"shortNames\":[\"qj\"]},"
	"{\"name\":\"queuedjobs/start\",\"singularName\":\"\",\"namespaced\":true,\"kind\":\"StartReview\","
	"\"verbs\":[\"get\"]},"
	"{\"name\":\"whatifs\",\"singularName\":\"whatif\",\"namespaced\":false,\"kind\":\"WhatIf\","
	"\"verbs\":[\"list\"]},"
	"{\"name\":\"costs\",\"singularName\":\"cost\",\"namespaced\":true,\"kind\":\"CostReport\","
	"\"verbs\":[\"list\"]},"
	"{\"name\":\"reports\",\"singularName\":\"report\",\"namespaced\":true,\"kind\":\"UsageReport\","
	"\"verbs\":[\"list\"]},"
	"{\"name\":\"histories\",\"singularName\":\"history\",\"namespaced\":true,\"kind\":\"JobHistory\","
	"\"verbs\":[\"list\"]},"
	"{\"name\":\"clusterqueues/queuedjobs\",\"singularName\":\"\",\"namespaced\":false,"
	"\"kind\":\"QueuedJobList\",\"verbs\":[\"get\"]}]}\n";

/* ---- OpenAPI --------------------------------------------------------------------------------- */

struct field {
	const char *in; /* which schema */
	const char *name;
	const char *
		type; /* of JSON, or "time", "amounts"; or the schema, with a capital; [] behind it: an array */
	const char *description;
};

static const struct field FIELDS[] = {
	{"QueuedJob", "apiVersion", "string", "visibility.sluice.dev/v1alpha1"},
	{"QueuedJob", "kind", "string", "QueuedJob"},
	{"QueuedJob", "metadata", "ObjectMeta",
		"Name, namespace, uid, creation and labels of the Job."},
	{"QueuedJob", "spec", "QueuedJobSpec", "What the Job asks for."},
	{"QueuedJob", "status", "QueuedJobStatus", "Where it stands, why, and until when."},

	{"QueuedJobSpec", "queue", "string", "The LocalQueue that the Job names."},
	{"QueuedJobSpec", "clusterQueue", "string", "The ClusterQueue of that LocalQueue."},
	{"QueuedJobSpec", "priority", "integer", "The priority that counts in the queue."},
	{"QueuedJobSpec", "claimedPriority", "integer",
		"The priority of its class, where the ClusterQueue counts less."},
	{"QueuedJobSpec", "submittedBy", "string",
		"The user who submitted the Job, as the API server knew the name. Absent where that is not known."},
	{"QueuedJobSpec", "pods", "integer", "How many pods it has at once."},
	{"QueuedJobSpec", "requests", "object", "What all its pods ask for together, by resource."},

	{"QueuedJobStatus", "state", "string",
		"Waiting, Starting, Running, Stopping or Deleting; Ended while pods are left."},
	{"QueuedJobStatus", "position", "integer",
		"Its place in the line of its ClusterQueue: 1 is the first. Jobs that do not compete with it (their window is closed, or they can never start) do not count. Absent where it is not in line."},
	{"QueuedJobStatus", "rank", "integer",
		"Its place in the order of its ClusterQueue among all that are in line: 1 is the first, and no two have the same. Lists are in this order."},
	{"QueuedJobStatus", "reason", "string",
		"Why it waits, in one word, such as WaitingForQuota."},
	{"QueuedJobStatus", "waitsFor", "string", "What it waits for, in a few words."},
	{"QueuedJobStatus", "message", "string",
		"The whole sentence: what is known, and what can be done. `sluice explain` prints it."},
	{"QueuedJobStatus", "queuedAt", "time", "Since when it counts as queued."},
	{"QueuedJobStatus", "startAt", "time",
		"When time alone lets it go on: the next opening of a window, the cheapest start, the end of a pause. Absent where that is not known."},
	{"QueuedJobStatus", "start", "QueuedJobStart",
		"When it starts, by the queue played forward several times. Absent where nobody has asked for that lately, for the first seconds, and of a Job that does not wait."},
	{"QueuedJobStatus", "startedAt", "time", "Since when it runs."},
	{"QueuedJobStatus", "stopsAt", "time", "When a window will stop it."},
	{"QueuedJobStatus", "deadline", "time", "When it must have ended, as its owner said."},
	{"QueuedJobStatus", "deadlineUnreachable", "boolean", "It cannot end by then any more."},
	{"QueuedJobStatus", "expectedSeconds", "integer", "How long it is expected to run."},
	{"QueuedJobStatus", "expectedFrom", "string",
		"How that is known: Annotation, ActiveDeadlineSeconds or History."},
	{"QueuedJobStatus", "trouble", "QueuedJobTrouble", "What keeps pods of its run."},
	{"QueuedJobStatus", "bill", "QueuedJobBill", "What its run has cost so far."},
	{"QueuedJobStatus", "ledgerDown", "boolean",
		"The ledger is not connected: running Jobs go on, nothing new starts."},
	{"QueuedJobStatus", "ledgerDownSince", "time", "Since when."},
	{"QueuedJobStatus", "noForecasts", "boolean",
		"The controller has --forecasts off: there will be no start."},
	{"QueuedJobStatus", "after", "QueuedJobAfter[]",
		"The items of sluice.dev/after, in the order written. Only of a single Job."},
	{"QueuedJobStatus", "story", "string",
		"The annotation by which Sluice keeps what it did with the Job. Only of a single Job."},

	{"QueuedJobAfter", "item", "string", "As written, such as afterok:prep."},
	{"QueuedJobAfter", "state", "string",
		"Holds, Waits, or Never: it cannot hold before its name is used again."},
	{"QueuedJobAfter", "jobs", "string[]",
		"The Jobs of its namespace that keep it from holding, 20 at most. One that is named may not be there yet."},
	{"QueuedJobAfter", "more", "integer", "How many other Jobs keep it from holding."},

	{"QueuedJobStart", "draws", "integer", "How many plays this rests on."},
	{"QueuedJobStart", "asOf", "time", "The moment from which they were played."},
	{"QueuedJobStart", "p10", "time", "It starts by then with a probability of 10 %."},
	{"QueuedJobStart", "p50", "time",
		"As likely as not it starts by then. Absent where half of the plays come to no start within 30 days."},
	{"QueuedJobStart", "p90", "time",
		"It starts by then with a probability of 90 %. Absent where too many plays come to no start."},
	{"QueuedJobStart", "misses", "integer",
		"In so many plays it did not start within 30 days."},
	{"QueuedJobStart", "reason", "string",
		"Why it did not in the first of these, in one word."},
	{"QueuedJobStart", "waitsFor", "string", "The same in a few words."},
	{"QueuedJobStart", "moved", "QueuedJobStartMove",
		"Another start was told before. Absent where it moved by less than ten minutes, or by less than a quarter of the wait that was left."},
	{"QueuedJobStart", "basis", "QueuedJobStartBasis", "What was learned from."},

	{"QueuedJobStartMove", "from", "time", "The p50 that was told before."},
	{"QueuedJobStartMove", "at", "time", "Until then."},
	{"QueuedJobStartMove", "why", "string",
		"What has happened since it was told that may move it so: objects of admins that were changed, and how many Jobs, runs and nodes."},

	{"QueuedJobStartBasis", "runs", "integer",
		"So many earlier runs of all queues tell how long runs take. 0: only what was asked for does."},
	{"QueuedJobStartBasis", "arrivals", "integer",
		"So many Jobs that came earlier stand for those that will come. 0: none are expected."},

	{"QueuedJobTrouble", "reason", "string", "In one word, such as ErrImagePull."},
	{"QueuedJobTrouble", "pods", "integer", "So many pods are kept."},
	{"QueuedJobTrouble", "of", "integer", "Of so many that it needs."},
	{"QueuedJobTrouble", "since", "time", "Since when."},
	{"QueuedJobTrouble", "message", "string", "What the cluster says."},
	{"QueuedJobTrouble", "cure", "string", "What can be done."},

	{"QueuedJobBill", "currency", "string", "Of the amounts."},
	{"QueuedJobBill", "plan", "string", "The PricePlan."},
	{"QueuedJobBill", "cost", "string", "So far."},
	{"QueuedJobBill", "perHour", "string", "As of now."},
	{"QueuedJobBill", "expectedCost", "string",
		"Of the whole run, where its duration is known."},

	{"StartReview", "apiVersion", "string", "visibility.sluice.dev/v1alpha1"},
	{"StartReview", "kind", "string", "StartReview"},
	{"StartReview", "metadata", "ObjectMeta", "Name and namespace of the Job."},
	{"StartReview", "status", "StartReviewStatus",
		"When it starts, and when it would start with one thing of it changed."},

	{"StartReviewStatus", "asOf", "time", "The moment from which all was played."},
	{"StartReviewStatus", "draws", "integer", "How many plays of each this rests on."},
	{"StartReviewStatus", "basis", "QueuedJobStartBasis", "What was learned from."},
	{"StartReviewStatus", "start", "StartTimes",
		"When it starts as it is: what its QueuedJob tells, of other plays and an earlier moment than the variants; where that tells nothing, of these."},
	{"StartReviewStatus", "variants", "StartVariant[]",
		"What its owner could change, each alone; what helps most comes first."},
	{"StartReviewStatus", "notPlayed", "StartUnplayed[]",
		"What was not tried, and why, where that is worth a word."},

	{"StartVariant", "change", "string",
		"Pods, Toleration, NodeLabels, LocalQueue, ExpectedDuration, PriorityClass or MaxPrice."},
	{"StartVariant", "from", "string", "As it is. Absent where there is nothing to say."},
	{"StartVariant", "to", "string", "As it would be: a number, or a name."},
	{"StartVariant", "text", "string", "That in words, such as: with 8 pods."},
	{"StartVariant", "start", "StartTimes", "When it would start."},
	{"StartVariant", "earlierSeconds", "integer",
		"So much earlier than as it is, by the medians of these plays; below 0: later. Absent where it does not start, in one of the two."},
	{"StartVariant", "starts", "boolean",
		"true: as it is it does not start, and so it would. false: it would not start."},

	{"StartUnplayed", "change", "string", "As in variants."},
	{"StartUnplayed", "text", "string", "Why it was not tried."},

	{"StartTimes", "draws", "integer", "Of so many plays."},
	{"StartTimes", "p10", "time", "It starts by then with a probability of 10 %."},
	{"StartTimes", "p50", "time",
		"As likely as not it starts by then. Absent where half of the plays come to no start within 30 days."},
	{"StartTimes", "p90", "time",
		"It starts by then with a probability of 90 %. Absent where too many plays come to no start."},
	{"StartTimes", "misses", "integer", "In so many plays it did not start within 30 days."},
	{"StartTimes", "reason", "string", "Why it did not in the first of these, in one word."},
	{"StartTimes", "waitsFor", "string", "The same in a few words."},

	{"WhatIf", "apiVersion", "string", "visibility.sluice.dev/v1alpha1"},
	{"WhatIf", "kind", "string", "WhatIf"},
	{"WhatIf", "status", "WhatIfStatus",
		"The Jobs that wait, as things are and as they would be."},

	{"WhatIfStatus", "asOf", "time", "The moment from which both were played."},
	{"WhatIfStatus", "draws", "integer", "How many plays of each this rests on."},
	{"WhatIfStatus", "basis", "QueuedJobStartBasis", "What was learned from."},
	{"WhatIfStatus", "horizonSeconds", "integer", "So far was played at most."},
	{"WhatIfStatus", "jobs", "integer", "How many Jobs wait: the sum of the five that follow."},
	{"WhatIfStatus", "earlier", "integer", "So many would start earlier, by a minute or more."},
	{"WhatIfStatus", "later", "integer", "So many later, by a minute or more."},
	{"WhatIfStatus", "same", "integer", "So many at the same time, or in neither."},
	{"WhatIfStatus", "newlyStart", "integer", "So many would start that do not as things are."},
	{"WhatIfStatus", "neverAnyMore", "integer", "And so many would not that do."},
	{"WhatIfStatus", "earlierSecondsMedian", "integer",
		"Half of those that would start earlier would by so much or more."},
	{"WhatIfStatus", "laterSecondsMedian", "integer", "The same of those that start later."},
	{"WhatIfStatus", "costs", "WhatIfCost[]",
		"What the first runs of these Jobs cost, by currency, each run to its end. Absent where none has a price."},
	{"WhatIfStatus", "advanceReservations", "WhatIfVerdict[]",
		"What the queue says of each AdvanceReservation among the objects."},
	{"WhatIfStatus", "queues", "WhatIfQueue[]",
		"Each ClusterQueue with Jobs that wait; those with most Jobs that move come first."},
	{"WhatIfStatus", "queuesLeft", "integer", "So many more there are."},
	{"WhatIfStatus", "items", "WhatIfItem[]",
		"The Jobs that move most. Those that come to start, or do no more, come first."},
	{"WhatIfStatus", "left", "integer", "So many more move."},

	{"WhatIfCost", "currency", "string", "Of the amounts."},
	{"WhatIfCost", "before", "string", "As things are: a decimal number."},
	{"WhatIfCost", "after", "string", "As they would be."},

	{"WhatIfVerdict", "name", "string", "Of the AdvanceReservation."},
	{"WhatIfVerdict", "accepted", "boolean", "Would it be accepted?"},
	{"WhatIfVerdict", "reason", "string", "As its condition Accepted would have it."},
	{"WhatIfVerdict", "message", "string", "The same, in a sentence."},
	{"WhatIfVerdict", "from", "time", "When its window begins that is open or next."},
	{"WhatIfVerdict", "until", "time", "When that ends."},
	{"WhatIfVerdict", "possibleFrom", "time",
		"Of one that is refused as NotFree: from then on it could be kept for as long."},
	{"WhatIfVerdict", "cost", "string",
		"Of that window, if all of it is used: a decimal number. Absent where nothing has a price."},
	{"WhatIfVerdict", "currency", "string", "Of the cost."},

	{"WhatIfQueue", "clusterQueue", "string", "Its name."},
	{"WhatIfQueue", "earlier", "integer", "As above, of its Jobs."},
	{"WhatIfQueue", "later", "integer", "The same."},
	{"WhatIfQueue", "same", "integer", "The same."},
	{"WhatIfQueue", "newlyStart", "integer", "The same."},
	{"WhatIfQueue", "neverAnyMore", "integer", "The same."},
	{"WhatIfQueue", "p50WaitSecondsBefore", "integer",
		"Half of its Jobs start within so long from now. Absent where half of them do not start."},
	{"WhatIfQueue", "p50WaitSecondsAfter", "integer", "The same as things would be."},

	{"WhatIfItem", "namespace", "string", "Of the Job."},
	{"WhatIfItem", "name", "string", "Of the Job."},
	{"WhatIfItem", "clusterQueue", "string", "That it waits in."},
	{"WhatIfItem", "before", "StartTimes", "When it starts as things are."},
	{"WhatIfItem", "after", "StartTimes", "When it would start."},
	{"WhatIfItem", "earlierSeconds", "integer",
		"So much earlier; below 0: later. Absent where it does not start, in one of the two."},

	{"CostReport", "apiVersion", "string", "visibility.sluice.dev/v1alpha1"},
	{"CostReport", "kind", "string", "CostReport"},
	{"CostReport", "by", "string",
		"What each row is of: queue, namespace, owner, user or label. As the parameter by of the question; label=KEY there."},
	{"CostReport", "label", "string", "The label's key, where it is by label."},
	{"CostReport", "namespace", "string",
		"It is of the Jobs of this namespace alone. Absent: of all."},
	{"CostReport", "since", "time", "The runs that started then or later, whole."},
	{"CostReport", "until", "time", "And before then."},
	{"CostReport", "leading", "boolean", "Runs that go on are in it."},
	{"CostReport", "more", "boolean",
		"There are more rows: these are the dearest; the totals are of all."},
	{"CostReport", "rows", "CostReportRow[]", "The dearest first."},
	{"CostReport", "totals", "CostReportRow[]", "Of all runs, a row each currency."},
	{"CostReport", "forgottenUntil", "time",
		"Of runs that ended by then the ledger has sums at best."},
	{"CostReport", "note", "string", "What is therefore not in it."},

	{"CostReportRow", "currency", "string",
		"Of the amounts; null where the runs had no price."},
	{"CostReportRow", "key", "string",
		"What the row is of; null: the runs that have no such label, or no known user."},
	{"CostReportRow", "runs", "integer", "That have ended."},
	{"CostReportRow", "running", "integer", "That go on."},
	{"CostReportRow", "runSeconds", "number", "How long all of these ran."},
	{"CostReportRow", "lostSeconds", "number",
		"Pod time lost: the work, in pod-seconds, that stops threw away."},
	{"CostReportRow", "estimatedSeconds", "number",
		"The part of runSeconds of which the ledger lost the beginning or the end."},
	{"CostReportRow", "cost", "string", "A decimal number, exact."},
	{"CostReportRow", "runningCost", "string", "The part of it of runs that go on, so far."},
	{"CostReportRow", "estimatedCost", "string", "The part of it of estimatedSeconds."},

	{"UsageReport", "apiVersion", "string", "visibility.sluice.dev/v1alpha1"},
	{"UsageReport", "kind", "string", "UsageReport"},
	{"UsageReport", "by", "string",
		"What each row is of: queue, namespace, owner, user or label. As the parameter by of the question; label=KEY there."},
	{"UsageReport", "label", "string", "The label's key, where it is by label."},
	{"UsageReport", "namespace", "string",
		"It is of the Jobs of this namespace alone. Absent: of all."},
	{"UsageReport", "since", "time", "The runs that started then or later, whole."},
	{"UsageReport", "until", "time", "And before then."},
	{"UsageReport", "more", "boolean",
		"There are more rows: these are the dearest; the totals are of all."},
	{"UsageReport", "rows", "UsageReportRow[]", "The dearest first, then the longest."},
	{"UsageReport", "totals", "UsageReportRow[]",
		"Of all runs: one row, or one each currency and one of the runs without a cost, where there are several."},
	{"UsageReport", "forgottenUntil", "time", "Runs that ended by then are not in it."},
	{"UsageReport", "note", "string", "That, in a sentence."},

	{"UsageReportRow", "key", "string",
		"What the row is of; null: the runs that have no such label, or no known user."},
	{"UsageReportRow", "currency", "string",
		"Of the amounts. Runs that go on or had no price count in the row of their key's currency; null where there is none, or several."},
	{"UsageReportRow", "jobs", "integer", "How many Jobs these runs were of."},
	{"UsageReportRow", "starts", "integer", "How many runs started."},
	{"UsageReportRow", "running", "integer", "Of these: that go on."},
	{"UsageReportRow", "ended", "object",
		"Of these: that have ended, by the reason: Finished, Failed, Preempted, WindowClosed, ..."},
	{"UsageReportRow", "waitP50Seconds", "number",
		"Half of the runs waited no longer for their start, since the Job's creation or the end of its previous run. null: not known."},
	{"UsageReportRow", "waitP99Seconds", "number", "The same of 99 in 100."},
	{"UsageReportRow", "runSeconds", "number", "How long all of these ran."},
	{"UsageReportRow", "cpuHours", "number", "Cores times hours that they held."},
	{"UsageReportRow", "gpuHours", "number",
		"The same of resources whose name ends in \"/gpu\"."},
	{"UsageReportRow", "lostSeconds", "number",
		"Pod time lost: the work, in pod-seconds, that stops threw away."},
	{"UsageReportRow", "cost", "string",
		"Of the runs that have ended: a decimal number, exact."},
	{"UsageReportRow", "estimatedCost", "string",
		"The part of it of runs of which the ledger lost the beginning or the end."},

	{"JobHistory", "apiVersion", "string", "visibility.sluice.dev/v1alpha1"},
	{"JobHistory", "kind", "string", "JobHistory"},
	{"JobHistory", "namespace", "string",
		"It is of the Jobs of this namespace alone. Absent: of all."},
	{"JobHistory", "job", "string", "It is of Jobs of this name alone."},
	{"JobHistory", "user", "string", "It is of Jobs that this user submitted alone."},
	{"JobHistory", "since", "time", "The runs that ended then or later, or go on."},
	{"JobHistory", "until", "time", "And began before then."},
	{"JobHistory", "more", "boolean", "There are more: these are the newest."},
	{"JobHistory", "runs", "JobHistoryRun[]", "Each run of each Job, the newest first."},
	{"JobHistory", "forgottenUntil", "time", "Runs that ended by then are not in it."},
	{"JobHistory", "note", "string", "That, in a sentence."},

	{"JobHistoryRun", "namespace", "string", "Of the Job."},
	{"JobHistoryRun", "job", "string", "Its name. The Job itself may be deleted."},
	{"JobHistoryRun", "uid", "string", "Its uid: a name may be used again."},
	{"JobHistoryRun", "attempt", "integer", "Which of its runs, from 1."},
	{"JobHistoryRun", "owner", "string",
		"CronJob/NAME, or what generated names have in common."},
	{"JobHistoryRun", "submittedBy", "string", "The user. Absent: not known."},
	{"JobHistoryRun", "clusterQueue", "string", "That it ran in."},
	{"JobHistoryRun", "queue", "string", "The LocalQueue that the Job named."},
	{"JobHistoryRun", "state", "string",
		"Reserved (it is about to start), Running, Stopping (its pods are waited for) or Ended."},
	{"JobHistoryRun", "queuedAt", "time",
		"Since when it waited: the creation of the Job (or when it got its queue label, if later), or the end of its previous run."},
	{"JobHistoryRun", "reservedAt", "time", "When quota was reserved for it."},
	{"JobHistoryRun", "startedAt", "time", "When the start was seen."},
	{"JobHistoryRun", "stoppingAt", "time",
		"When it was told to stop, or was seen to have ended, and had pods still."},
	{"JobHistoryRun", "stoppedAt", "time", "When no pod was left."},
	{"JobHistoryRun", "reason", "string",
		"Finished, Failed, or what stopped it: Preempted, WindowClosed, ..."},
	{"JobHistoryRun", "actor", "string", "The party that ended it."},
	{"JobHistoryRun", "preemptor", "string",
		"NAMESPACE/NAME of the Job that it was preempted for. Absent in the history of one namespace where that is of another."},
	{"JobHistoryRun", "outcome", "string",
		"The Job ended with this run: Succeeded, Failed or Deleted."},
	{"JobHistoryRun", "holds", "amounts", "What it held when it started, by resource."},
	{"JobHistoryRun", "flavors", "string[]", "The ResourceFlavors of that."},
	{"JobHistoryRun", "waitSeconds", "number", "From queuedAt to startedAt."},
	{"JobHistoryRun", "runSeconds", "number", "From startedAt to stoppedAt, or until now."},
	{"JobHistoryRun", "cpuHours", "number", "Cores times hours that it held."},
	{"JobHistoryRun", "gpuHours", "number",
		"The same of resources whose name ends in \"/gpu\"."},
	{"JobHistoryRun", "lostSeconds", "number",
		"Pod time lost: the work, in pod-seconds, that its stop threw away."},
	{"JobHistoryRun", "currency", "string", "Of the cost."},
	{"JobHistoryRun", "cost", "string", "Once it has ended: a decimal number, exact."},
	{"JobHistoryRun", "estimated", "boolean",
		"The ledger lost when it began or ended, or it was adopted while it ran."},
};

enum { NFIELDS = sizeof(FIELDS) / sizeof(FIELDS[0]) };

static bool is_schema(const char *type)
{
	return type[0] >= 'A' && type[0] <= 'Z';
}

/* The name of the schema, without brackets. */
static int schema_length(const char *type)
{
	return (int)strcspn(type, "[");
}

static void put_type(struct buf *out, const struct field *f)
{
	if (strcmp(f->type, "string[]") == 0)
		buf_puts(out, "\"type\":\"array\",\"items\":{\"type\":\"string\"}");
	else if (strcmp(f->type, "amounts") == 0)
		buf_puts(out, "\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\"}");
	else if (strchr(f->type, '['))
		buf_printf(out,
			"\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/" NAMED
			"%.*s\"}",
			schema_length(f->type), f->type);
	else if (is_schema(f->type))
		buf_printf(out, "\"allOf\":[{\"$ref\":\"#/components/schemas/%s%s\"}]",
			strcmp(f->type, "ObjectMeta") == 0 ? META : NAMED, f->type);
	else if (strcmp(f->type, "time") == 0)
		buf_puts(out, "\"type\":\"string\",\"format\":\"date-time\"");
	else if (strcmp(f->type, "object") == 0)
		buf_puts(out, "\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}");
	else
		buf_printf(out, "\"type\":\"%s\"", f->type);
}

/* Schemas that are objects of the API themselves. */
static const struct root {
	const char *kind, *description;
} ROOTS[] = {
	{"QueuedJob",
		"What Sluice knows of a Job that has not ended: where it stands, why it waits, and until when."},
	{"StartReview",
		"What would make a Job that waits start earlier: it is played as it is, and with one thing changed at a time."},
	{"WhatIf",
		"What would happen if objects were different: the queue is played as it is, and with these objects in place of the live ones. Nothing is written."},
	{"CostReport", "What runs cost that started in a stretch of time."},
	{"UsageReport",
		"What Jobs did in runs that started in a stretch of time: how long they waited and ran, how they ended, what they held and cost."},
	{"JobHistory",
		"The runs of Jobs in a stretch of time, also of Jobs that are deleted: when each was queued, started and stopped, why, and for whom."},
};

static const struct root *find_root(const char *kind)
{
	for (size_t i = 0; i < sizeof(ROOTS) / sizeof(ROOTS[0]); i++)
		if (strcmp(ROOTS[i].kind, kind) == 0)
			return &ROOTS[i];
	return NULL;
}

/* The fields of one schema stand one behind the other. Schemas within it are described by the field. */
static size_t put_schema(struct buf *out, size_t first)
{
	const char *in = FIELDS[first].in;
	size_t i = first;
	const struct root *root = find_root(in);
	buf_printf(out, "\"" NAMED "%s\":{\"type\":\"object\",", in);
	if (root) {
		buf_puts(out, "\"description\":");
		buf_json_string(out, root->description);
		buf_putc(out, ',');
	}
	buf_puts(out, "\"properties\":{");
	for (; i < NFIELDS && strcmp(FIELDS[i].in, in) == 0; i++) {
		buf_printf(out, "%s\"%s\":{", i > first ? "," : "", FIELDS[i].name);
		put_type(out, &FIELDS[i]);
		buf_puts(out, ",\"description\":");
		buf_json_string(out, FIELDS[i].description);
		buf_putc(out, '}');
	}
	buf_putc(out, '}');
	if (root)
		buf_printf(out, ",\"x-kubernetes-group-version-kind\":[" KIND("%s") "]", in);
	buf_putc(out, '}');
	return i;
}

static void put_path(
	struct buf *out, const char *path, const char *action, const char *kind, const char *schema)
{
	buf_printf(out,
		"\"" VISIBILITY_ROOT
		"%s\":{\"get\":{\"x-kubernetes-action\":\"%s\",\"x-kubernetes-group-version-kind\":" KIND(
			"%s") ",\"responses\":{\"200\":{\"description\":\"OK\",\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/" NAMED
			      "%s\"}}}}}}}",
		path, action, kind, schema);
}

static void put_past_paths(struct buf *out)
{
	static const struct {
		const char *path, *kind;
	} paths[] = {
		{"/costs", "CostReport"},
		{"/namespaces/{namespace}/costs", "CostReport"},
		{"/reports", "UsageReport"},
		{"/namespaces/{namespace}/reports", "UsageReport"},
		{"/histories", "JobHistory"},
		{"/namespaces/{namespace}/histories", "JobHistory"},
	};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		buf_puts(out, i > 0 ? "," : "");
		put_path(out, paths[i].path, "list", paths[i].kind, paths[i].kind);
	}
}

static void put_openapi(struct buf *out)
{
	buf_puts(out,
		"{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Sluice\",\"version\":\"" SLUICE_VERSION
		"\"},\"paths\":{");
	put_path(out, "/queuedjobs", "list", "QueuedJob", "QueuedJobList");
	buf_putc(out, ',');
	put_path(out, "/namespaces/{namespace}/queuedjobs", "list", "QueuedJob", "QueuedJobList");
	buf_putc(out, ',');
	put_path(out, "/namespaces/{namespace}/queuedjobs/{name}", "get", "QueuedJob", "QueuedJob");
	buf_putc(out, ',');
	put_path(out, "/namespaces/{namespace}/queuedjobs/{name}/start", "get", "StartReview",
		"StartReview");
	buf_putc(out, ',');
	put_path(out, "/whatifs", "list", "WhatIf", "WhatIf");
	buf_putc(out, ',');
	put_past_paths(out);
	buf_puts(out, "},\"components\":{\"schemas\":{");
	for (size_t i = 0; i < NFIELDS;) {
		i = put_schema(out, i);
		buf_putc(out, ',');
	}
	buf_puts(out,
		"\"" NAMED
		"QueuedJobList\":{\"type\":\"object\",\"description\":\"QueuedJobs in the order of the queue.\",\"properties\":{"
		"\"apiVersion\":{\"type\":\"string\"},\"kind\":{\"type\":\"string\"},\"metadata\":{\"type\":\"object\"},"
		"\"items\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/" NAMED
		"QueuedJob\"}}},\"x-kubernetes-group-version-kind\":[" KIND(
			"QueuedJobList") "]},"
					 "\"" META
					 "ObjectMeta\":{\"type\":\"object\",\"description\":\"Name, namespace, uid, creation and labels of the Job.\"}"
					 "}}}\n");
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool discovery_document(const char *path, struct buf *out)
{
	static const struct {
		const char *path, *text;
	} documents[] = {
		{"/apis", GROUPS},
		{"/apis/" VISIBILITY_GROUP, GROUP},
		{VISIBILITY_ROOT, RESOURCES},
		{"/openapi/v3", "{\"paths\":{\"apis/" VISIBILITY_GROUP "/" VISIBILITY_VERSION
				"\":{\"serverRelativeURL\":\"" OPENAPI_PATH "?hash=" SLUICE_VERSION
				"\"}}}\n"},
	};
	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		if (strcmp(path, documents[i].path) != 0)
			continue;
		buf_puts(out, documents[i].text);
		return true;
	}
	if (strcmp(path, OPENAPI_PATH) != 0)
		return false;
	put_openapi(out);
	return true;
}
