/*
 * The members of the reports of this moment (report.h), for kubectl explain. Other modules write
 * them: queues.h, week.h, budgets.h, decision_log.h, overcommit/overcommit_controller.h, and the
 * ledger's SQL.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_REPORT_VIEWS_H
#define SLUICE_CONTROLLER_ANSWERS_REPORT_VIEWS_H

#include "controller/common/view.h"

extern const struct view decision_report_view, queue_report_view, budget_report_view,
	overcommit_report_view, week_view, usage_view;

#endif
