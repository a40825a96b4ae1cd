-- The ledger, version 8: sums say how much of them is estimated, as each bill does since version 7.
--
-- A program of version 7 may go on for a while as a leader: of what it forgets the sums do not say it.

COMMENT ON COLUMN sluice.lease.timeline IS
	'of the server when its leader last let Jobs start; empty: its leader does not let any start yet. Another one: the ledger was promoted, or restored to a point in time, since then';

ALTER TABLE sluice.segment_month
	ADD COLUMN estimated_ms    numeric NOT NULL DEFAULT 0,
	ADD COLUMN estimated_micro numeric NOT NULL DEFAULT 0;
COMMENT ON COLUMN sluice.segment_month.estimated_ms IS
	'that part of ran_ms that is of runs whose bill is estimated, as in sluice.segment';
COMMENT ON COLUMN sluice.segment_month.estimated_micro IS
	'that part of cost_micro that is of runs whose bill is estimated; 0 where they had no price';

CREATE OR REPLACE VIEW sluice.cost_by_day AS
	SELECT cell, date_trunc('day', started_at, 'UTC') AS day, namespace, clusterqueue, localqueue,
		currency, count(*) AS runs, sum(run_seconds) AS run_seconds, sum(cost) AS cost,
		sum(lost_seconds) AS lost_seconds,
		sum(estimated::int * run_seconds) AS estimated_seconds,
		sum(estimated::int * cost) AS estimated_cost
	FROM sluice.cost
	GROUP BY cell, date_trunc('day', started_at, 'UTC'), namespace, clusterqueue, localqueue, currency;
COMMENT ON COLUMN sluice.cost_by_day.estimated_seconds IS
	'that part of run_seconds that is of runs whose bill is estimated: the ledger lost when they began or ended (docs/restore.md)';
COMMENT ON COLUMN sluice.cost_by_day.estimated_cost IS 'that part of cost that is estimated';

CREATE OR REPLACE VIEW sluice.cost_by_month AS
	SELECT cell, month, namespace, clusterqueue, localqueue, currency, sum(runs)::bigint AS runs,
		sum(run_seconds) AS run_seconds, sum(cost) AS cost, sum(lost_seconds) AS lost_seconds,
		sum(estimated_seconds) AS estimated_seconds, sum(estimated_cost) AS estimated_cost
	FROM (SELECT cell, date_trunc('month', started_at, 'UTC') AS month, namespace, clusterqueue,
			localqueue, currency, 1 AS runs, run_seconds, cost, lost_seconds,
			estimated::int * run_seconds AS estimated_seconds,
			estimated::int * cost AS estimated_cost
		FROM sluice.cost
		UNION ALL
		SELECT cell, month, ns, clusterqueue, localqueue, nullif(currency, ''), runs,
			ran_ms / 1000, cost_micro / 1000000, lost_ms / 1000, estimated_ms / 1000,
			CASE WHEN currency <> '' THEN estimated_micro / 1000000 END
		FROM sluice.segment_month) AS run
	GROUP BY cell, month, namespace, clusterqueue, localqueue, currency;
COMMENT ON COLUMN sluice.cost_by_month.estimated_seconds IS
	'that part of run_seconds that is of runs whose bill is estimated: the ledger lost when they began or ended (docs/restore.md)';
COMMENT ON COLUMN sluice.cost_by_month.estimated_cost IS 'that part of cost that is estimated';

CREATE OR REPLACE VIEW sluice.spend AS
	SELECT cell, clusterqueue, currency, day, cost,
		sum(cost) OVER month AS month_to_date, estimated_cost,
		sum(estimated_cost) OVER month AS estimated_month_to_date
	FROM (SELECT cell, clusterqueue, currency, day, sum(cost) AS cost,
			sum(estimated_cost) AS estimated_cost
		FROM sluice.cost_by_day
		WHERE currency IS NOT NULL GROUP BY cell, clusterqueue, currency, day) AS d
	WINDOW month AS (PARTITION BY cell, clusterqueue, currency, date_trunc('month', day, 'UTC')
		ORDER BY day);
COMMENT ON COLUMN sluice.spend.estimated_cost IS 'that part of cost that is estimated';
COMMENT ON COLUMN sluice.spend.estimated_month_to_date IS 'that part of month_to_date that is estimated';
