-- The ledger, version 6: attempts that ended long ago are forgotten (--keep-history), and what their
-- runs cost stays as sums per month.
--
-- A program of version 5 may go on for a while as a leader: it forgets nothing, and what it reads and
-- writes is in place.

CREATE TABLE sluice.segment_month (
	cell         text COLLATE "C" NOT NULL,
	month        timestamptz NOT NULL,
	ns           text NOT NULL,
	clusterqueue text NOT NULL,
	localqueue   text NOT NULL,
	currency     text NOT NULL,
	runs         bigint NOT NULL CHECK (runs > 0),
	ran_ms       numeric NOT NULL,
	cost_micro   numeric,
	lost_ms      numeric NOT NULL,
	PRIMARY KEY (cell, month, ns, clusterqueue, localqueue, currency),
	CONSTRAINT segment_month_cost_has_currency CHECK ((cost_micro IS NULL) = (currency = ''))
);
COMMENT ON TABLE sluice.segment_month IS
	'What is left of the runs that were forgotten: sums by the month in which they started. Each run is either here or in sluice.segment; the view sluice.cost_by_month has both.';
COMMENT ON COLUMN sluice.segment_month.cell IS 'names the Kubernetes cluster';
COMMENT ON COLUMN sluice.segment_month.month IS 'its beginning, 00:00 UTC';
COMMENT ON COLUMN sluice.segment_month.ns IS 'of the Jobs';
COMMENT ON COLUMN sluice.segment_month.currency IS 'of cost_micro; empty: the runs had no price';
COMMENT ON COLUMN sluice.segment_month.runs IS 'how many';
COMMENT ON COLUMN sluice.segment_month.ran_ms IS 'milliseconds from start to end, of all';
COMMENT ON COLUMN sluice.segment_month.cost_micro IS 'millionths of the currency; NULL: they had no price';
COMMENT ON COLUMN sluice.segment_month.lost_ms IS 'pod-milliseconds of work that their stops threw away';

CREATE TABLE sluice.retention (
	cell            text COLLATE "C" PRIMARY KEY,
	keep            interval,
	looked_at       timestamptz NOT NULL,
	caught_up_at    timestamptz,
	forgotten_until timestamptz
) WITH (fillfactor = 50);
COMMENT ON TABLE sluice.retention IS
	'How far the leader of a cell has come with forgetting: one row a cell, none before it looked for the first time.';
COMMENT ON COLUMN sluice.retention.cell IS 'names the Kubernetes cluster';
COMMENT ON COLUMN sluice.retention.keep IS 'how long an attempt is kept after its end (--keep-history); NULL: for ever';
COMMENT ON COLUMN sluice.retention.looked_at IS 'when the leader last looked what is to be forgotten, by the clock of the database';
COMMENT ON COLUMN sluice.retention.caught_up_at IS 'when there was last nothing left to be forgotten; NULL: never';
COMMENT ON COLUMN sluice.retention.forgotten_until IS
	'the latest end of a run that was forgotten: of what ended until then only sums are left; NULL: nothing was';

-- Starts that were called off have no segment. Few: the index is small.
CREATE INDEX transfer_voided ON sluice.transfer (cell, at, job_uid, attempt) WHERE kind = 'VOID';
COMMENT ON INDEX sluice.transfer_voided IS 'the attempts that never ran, in the order in which they were called off';

-- Rows go at one end and come at the other: at the usual fifth the files of a year would keep the
-- room of ten weeks that nobody uses.
ALTER TABLE sluice.transfer SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE sluice.segment SET (autovacuum_vacuum_scale_factor = 0.02);

CREATE VIEW sluice.cost_by_month AS
	SELECT cell, month, namespace, clusterqueue, localqueue, currency, sum(runs)::bigint AS runs,
		sum(run_seconds) AS run_seconds, sum(cost) AS cost, sum(lost_seconds) AS lost_seconds
	FROM (SELECT cell, date_trunc('month', started_at, 'UTC') AS month, namespace, clusterqueue,
			localqueue, currency, 1 AS runs, run_seconds, cost, lost_seconds
		FROM sluice.cost
		UNION ALL
		SELECT cell, month, ns, clusterqueue, localqueue, nullif(currency, ''), runs,
			ran_ms / 1000, cost_micro / 1000000, lost_ms / 1000
		FROM sluice.segment_month) AS run
	GROUP BY cell, month, namespace, clusterqueue, localqueue, currency;
COMMENT ON VIEW sluice.cost_by_month IS
	'What all runs cost that have ended, also those that were forgotten, by the month (UTC) in which they started, the namespace and the queues.';
COMMENT ON COLUMN sluice.cost_by_month.month IS 'its beginning, 00:00 UTC';
