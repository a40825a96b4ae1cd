-- The ledger, version 3: what runs cost, and for whom.
--
-- A program of version 2 may go on for a while as the leader of another cell. What it does not name
-- means that nobody knows: no owner, no labels, no price.
--
-- The views are for people, dashboards and notebooks: docs/ask.md has recipes, and a role that may
-- read them and nothing else.

ALTER TABLE sluice.hold
	ADD owner  text NOT NULL DEFAULT '',
	ADD labels jsonb;
COMMENT ON COLUMN sluice.hold.owner IS
	'what the Job and its like have in common (CronJob/NAME, or the generateName), else its own name; empty: written by version 2';
COMMENT ON COLUMN sluice.hold.labels IS
	'those of the labels of the Job that bills carry (--bill-labels), as they were at RESERVE; NULL: none';

ALTER TABLE sluice.segment
	ADD owner    text NOT NULL DEFAULT '',
	ADD labels   jsonb,
	ADD plan     text,
	ADD currency text,
	ADD CONSTRAINT segment_cost_has_currency CHECK ((cost_micro IS NULL) = (currency IS NULL));
COMMENT ON COLUMN sluice.segment.owner IS
	'what the Job and its like have in common (CronJob/NAME, or the generateName), else its own name; empty: written by version 2';
COMMENT ON COLUMN sluice.segment.labels IS
	'those of the labels of the Job that bills carry (--bill-labels), as they were at RESERVE; NULL: none';
COMMENT ON COLUMN sluice.segment.plan IS 'the PricePlan; NULL: there was none for its queue';
COMMENT ON COLUMN sluice.segment.currency IS 'of cost_micro, as the PricePlan names it; NULL without a PricePlan';
COMMENT ON COLUMN sluice.segment.price IS
	'[{"from": time, "perHour": amount}, ...]: what an hour of it cost, and since when; NULL without a PricePlan';
COMMENT ON COLUMN sluice.segment.cost_micro IS
	'from started_at to stopped_at, in millionths of the currency, rounded up once: what RELEASE charged, to the period of the Budgets in which it started; NULL without a PricePlan';

-- ---------------------------------------------------------------------------------------------

CREATE VIEW sluice.cost AS
	SELECT cell, ns AS namespace, name, job_uid, attempt, owner, clusterqueue, localqueue, labels,
		started_at, stopped_at, reason,
		greatest(0, extract(epoch FROM stopped_at - started_at))::numeric AS run_seconds,
		(greatest(0, extract(epoch FROM stopped_at - started_at))
			* (SELECT sum((l ->> 3)::bigint) FROM jsonb_array_elements(lines) AS l
				WHERE l ->> 2 = 'pods'))::numeric AS pod_seconds,
		plan, currency, cost_micro::numeric / 1000000 AS cost,
		coalesce(lost_ms, 0)::numeric / 1000 AS lost_seconds
	FROM sluice.segment WHERE stopped_at IS NOT NULL;
COMMENT ON VIEW sluice.cost IS
	'One row for each run that has ended: who, where, when, and what it cost. The sum of cost over the runs of a queue that started in a period is what its Budget has spent.';
COMMENT ON COLUMN sluice.cost.namespace IS 'of the Job';
COMMENT ON COLUMN sluice.cost.labels IS 'those that bills carry (--bill-labels)';
COMMENT ON COLUMN sluice.cost.started_at IS 'when the start was seen; the run is charged to the period that this is in';
COMMENT ON COLUMN sluice.cost.stopped_at IS 'when no pod was left';
COMMENT ON COLUMN sluice.cost.reason IS 'Finished, Failed, or what stopped it: WindowClosed, Preempted, ...';
COMMENT ON COLUMN sluice.cost.run_seconds IS 'from started_at to stopped_at; 0 when the clock was set back in between';
COMMENT ON COLUMN sluice.cost.pod_seconds IS
	'run_seconds times the pods that it held at its start; NULL where the ClusterQueue does not count pods';
COMMENT ON COLUMN sluice.cost.currency IS
	'of cost; costs in different currencies must not be added up; NULL without a PricePlan';
COMMENT ON COLUMN sluice.cost.cost IS 'in units of the currency, exact to the millionth; NULL without a PricePlan';
COMMENT ON COLUMN sluice.cost.lost_seconds IS 'pod-seconds of work that its stop threw away';

CREATE VIEW sluice.cost_by_day AS
	SELECT cell, date_trunc('day', started_at, 'UTC') AS day, namespace, clusterqueue, localqueue,
		currency, count(*) AS runs, sum(run_seconds) AS run_seconds, sum(cost) AS cost,
		sum(lost_seconds) AS lost_seconds
	FROM sluice.cost
	GROUP BY cell, date_trunc('day', started_at, 'UTC'), namespace, clusterqueue, localqueue, currency;
COMMENT ON VIEW sluice.cost_by_day IS
	'sluice.cost by the day (UTC) in which the runs started, the namespace and the queues.';
COMMENT ON COLUMN sluice.cost_by_day.day IS 'its beginning, 00:00 UTC';

CREATE VIEW sluice.spend AS
	SELECT cell, clusterqueue, currency, day, cost,
		sum(cost) OVER (PARTITION BY cell, clusterqueue, currency, date_trunc('month', day, 'UTC')
			ORDER BY day) AS month_to_date
	FROM (SELECT cell, clusterqueue, currency, day, sum(cost) AS cost FROM sluice.cost_by_day
		WHERE currency IS NOT NULL GROUP BY cell, clusterqueue, currency, day) AS d;
COMMENT ON VIEW sluice.spend IS
	'What each ClusterQueue spent by day (UTC) of start, and in the month up to that day.';
COMMENT ON COLUMN sluice.spend.day IS 'its beginning, 00:00 UTC; the time column of a dashboard';
COMMENT ON COLUMN sluice.spend.month_to_date IS 'since the beginning of the month (UTC), this day included';
