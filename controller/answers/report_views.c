#include "controller/answers/report_views.h"

static const struct view_member decision_rows[] = {
	{"seq", VIEW_TOLD, 0, 0,
		"It grows by one. The parameter after=SEQ asks for what came since; numbers are of one leader, and begin anew with the next one.",
		.as = "integer"},
	{"at", VIEW_TOLD, 0, 0, "When.", .as = "time"},
	{"kind", VIEW_TOLD, 0, 0, "What was decided, in one word, such as start.", .as = "string"},
	{"namespace", VIEW_TOLD, 0, 0, "Of the Job; empty where it is about none.", .as = "string"},
	{"job", VIEW_TOLD, 0, 0, "Its name.", .as = "string"},
	{"clusterQueue", VIEW_TOLD, 0, 0, "That the Job is in.", .as = "string"},
	{"text", VIEW_TOLD, 0, 0, "The whole sentence.", .as = "string"},
};
static const struct view decision_view = VIEW("Decision", NULL, decision_rows);

static const struct view_member decision_report_rows[] = {
	{"decisions", VIEW_TOLD, 0, 0, "The last 512, the oldest first.", .of = &decision_view},
};
const struct view decision_report_view = VIEW("DecisionReport",
	"The last decisions in words: which Jobs were started, stopped and refused, and why.",
	decision_report_rows);

static const struct view_member queue_trouble_rows[] = {
	{"reason", VIEW_TOLD, 0, 0, "In one word, such as ErrImagePull.", .as = "string"},
	{"jobs", VIEW_TOLD, 0, 0, "How many Jobs.", .as = "integer"},
	{"since", VIEW_TOLD, 0, 0, "Since when one of them is.", .as = "time"},
};
static const struct view queue_trouble_view = VIEW("QueueReportTrouble", NULL, queue_trouble_rows);

static const struct view_member reported_queue_rows[] = {
	{"metadata", VIEW_TOLD, 0, 0, "Its name, and its namespace if it has one.",
		.as = "ObjectMeta"},
	{"spec", VIEW_TOLD, 0, 0,
		"What of its spec a reader of quotas needs: queueingStrategy, cohortName, maxPriority and growByDefault; clusterQueue; parentName.",
		.as = "tree"},
	{"status", VIEW_TOLD, 0, 0,
		"Its status as it would be written now, without the times of conditions: kubectl explain clusterqueue.status.",
		.as = "tree"},
	{"open", VIEW_TOLD, 0, 0,
		"Of a ClusterQueue or LocalQueue: isOpen tells whether its windows let Jobs start now, until when that changes next (absent: not within a year).",
		.as = "tree"},
	{"exists", VIEW_TOLD, 0, 0, "False: there is no such object, others name it.",
		.as = "boolean"},
	{"started", VIEW_TOLD, 0, 0, "Of a ClusterQueue: how many Jobs this leader has started.",
		.as = "integer"},
	{"finished", VIEW_TOLD, 0, 0, "How many have ended.", .as = "integer"},
	{"stopping", VIEW_TOLD, 0, 0, "How many are being stopped to make room for other Jobs.",
		.as = "integer"},
	{"stoppingSeconds", VIEW_TOLD, 0, 0, "How long that may take yet.", .as = "integer"},
	{"troubles", VIEW_TOLD, 0, 0, "Jobs whose pods are stuck.", .of = &queue_trouble_view},
	{"flavors", VIEW_TOLD, 0, 0,
		"Of a Cohort: what is held and borrowed of each flavor and resource, its own quota (nominal), and that with all below it (subtree).",
		.as = "tree[]"},
};
static const struct view reported_queue_view = VIEW("QueueReportQueue", NULL, reported_queue_rows);

static const struct view_member reported_class_rows[] = {
	{"kind", VIEW_TOLD, 0, 0, "WorkloadPriorityClass or PriorityClass.", .as = "string"},
	{"name", VIEW_TOLD, 0, 0, "Its name.", .as = "string"},
	{"value", VIEW_TOLD, 0, 0, "The priority of its Jobs.", .as = "integer"},
	{"globalDefault", VIEW_TOLD, 0, 0, "True: it counts for Jobs that name no class.",
		.as = "boolean"},
};
static const struct view reported_class_view = VIEW("QueueReportClass", NULL, reported_class_rows);

static const struct view_member queue_report_rows[] = {
	{"asOf", VIEW_TOLD, 0, 0, "By the controller's clock.", .as = "time"},
	{"clusterQueues", VIEW_TOLD, 0, 0,
		"Each ClusterQueue, by name. In the report of one namespace: those that its LocalQueues lead to, with sums alone.",
		.of = &reported_queue_view},
	{"localQueues", VIEW_TOLD, 0, 0, "Each LocalQueue.", .of = &reported_queue_view},
	{"cohorts", VIEW_TOLD, 0, 0,
		"Each Cohort, also one that is only named by others. Not in the report of one namespace.",
		.of = &reported_queue_view},
	{"classes", VIEW_TOLD, 0, 0,
		"The priority classes that Jobs may name: those of Sluice, then those of Kubernetes, the highest first.",
		.of = &reported_class_view},
	{"withoutQueue", VIEW_TOLD, 0, 0, "How many Jobs wait for a queue that does not exist.",
		.as = "integer"},
	{"ledgerUp", VIEW_TOLD, 0, 0,
		"True: Postgres answers. Else running Jobs continue, and no Job starts.",
		.as = "boolean"},
	{"ledgerDownSince", VIEW_TOLD, 0, 0, "Since when Postgres has not answered.", .as = "time"},
};
const struct view queue_report_view = VIEW("QueueReport",
	"ClusterQueues, LocalQueues and Cohorts as they are at this moment: what is held of each quota, how many Jobs wait and run. It names no Job, and of one namespace no queue of another.",
	queue_report_rows);

static const struct view_member budget_row_rows[] = {
	{"name", VIEW_TOLD, 0, 0, "Of the Budget.", .as = "string"},
	{"clusterQueue", VIEW_TOLD, 0, 0,
		"The ClusterQueue of the Budget; empty where it has a LocalQueue.", .as = "string"},
	{"namespace", VIEW_TOLD, 0, 0, "The namespace of its LocalQueue.", .as = "string"},
	{"localQueue", VIEW_TOLD, 0, 0, "Its name.", .as = "string"},
	{"currency", VIEW_TOLD, 0, 0, "Of all amounts here, which are decimal numbers.",
		.as = "string"},
	{"amount", VIEW_TOLD, 0, 0, "What may be spent in the period.", .as = "string"},
	{"spent", VIEW_TOLD, 0, 0, "What runs that ended have cost.", .as = "string"},
	{"reserved", VIEW_TOLD, 0, 0, "What runs that go on may cost.", .as = "string"},
	{"remaining", VIEW_TOLD, 0, 0, "What is left.", .as = "string"},
	{"active", VIEW_TOLD, 0, 0,
		"True: the Budget is in force. Else reason and message tell why not.",
		.as = "boolean"},
	{"reason", VIEW_TOLD, 0, 0, "In one word.", .as = "string"},
	{"message", VIEW_TOLD, 0, 0, "The whole sentence.", .as = "string"},
	{"from", VIEW_TOLD, 0, 0, "When the period began.", .as = "time"},
	{"until", VIEW_TOLD, 0, 0, "When it ends.", .as = "time"},
	{"timeZone", VIEW_TOLD, 0, 0, "By whose clocks.", .as = "string"},
	{"forecast", VIEW_TOLD, 0, 0,
		"What will be spent by the end of the period, at the pace so far. Absent in the first hundredth of the period.",
		.as = "string"},
	{"exhaustedAt", VIEW_TOLD, 0, 0, "When the amount is spent, at that pace.", .as = "time"},
};
static const struct view budget_row_view = VIEW("BudgetReportRow", NULL, budget_row_rows);

static const struct view_member budget_report_rows[] = {
	{"budgets", VIEW_TOLD, 0, 0, "Each Budget, by name.", .of = &budget_row_view},
};
const struct view budget_report_view = VIEW("BudgetReport",
	"What Budgets have spent in their period, and what they will have at its end.",
	budget_report_rows);

static const struct view_member overcommit_report_rows[] = {
	{"lends", VIEW_TOLD, 0, 0, "Some configuration enables lending.", .as = "boolean"},
	{"pools", VIEW_TOLD, 0, 0, "Flavors of idle resources, and how much each has.",
		.as = "tree[]"},
	{"nodes", VIEW_TOLD, 0, 0,
		"Each Node that is followed: what is offered, what is lent. Asked for by name: that one's members, with its sum term by term.",
		.as = "tree[]"},
};
const struct view overcommit_report_view =
	VIEW("OvercommitReport", "What is lent of Nodes, and why so much.", overcommit_report_rows);

static const struct view_member week_rows[] = {
	{"clusterQueue", VIEW_TOLD, 0, 0, "Its name.", .as = "string"},
	{"from", VIEW_TOLD, 0, 0, "The beginning of today in UTC.", .as = "time"},
	{"until", VIEW_TOLD, 0, 0, "Seven days later.", .as = "time"},
	{"now", VIEW_TOLD, 0, 0, "By the controller's clock.", .as = "time"},
	{"windows", VIEW_TOLD, 0, 0, "When each RunPolicy lets it start Jobs.", .as = "tree[]"},
	{"prices", VIEW_TOLD, 0, 0, "The factor and rate of its PricePlan, in steps.",
		.as = "tree[]"},
	{"quotas", VIEW_TOLD, 0, 0, "The quota of each flavor and resource, in steps.",
		.as = "tree[]"},
};
const struct view week_view = VIEW("ClusterQueueWeek",
	"When a ClusterQueue may start Jobs in the week from today on, what that costs, and how its quota changes.",
	week_rows);

static const struct view_member usage_rows[] = {
	{"clusterQueue", VIEW_TOLD, 0, 0, "Its name.", .as = "string"},
	{"from", VIEW_TOLD, 0, 0, "The beginning of the first step.", .as = "time"},
	{"until", VIEW_TOLD, 0, 0, "The end of the last one.", .as = "time"},
	{"stepSeconds", VIEW_TOLD, 0, 0, "The length of a step.", .as = "integer"},
	{"more", VIEW_TOLD, 0, 0, "There are more flavors and resources.", .as = "boolean"},
	{"flavors", VIEW_TOLD, 0, 0,
		"The mean of each step, for each flavor and resource: cpu in thousandths, others whole.",
		.as = "tree[]"},
	{"forgottenUntil", VIEW_TOLD, 0, 0, "Runs that ended by then are not in it.", .as = "time"},
	{"note", VIEW_TOLD, 0, 0, "That, in a sentence.", .as = "string"},
};
const struct view usage_view = VIEW("ClusterQueueUsage",
	"What the runs of a ClusterQueue held, in equal steps of a stretch of time.", usage_rows);
