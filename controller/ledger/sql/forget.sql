-- Forgets closed attempts: all their transfers, and their segments, which are added to the sums of
-- their months. $1 cell, $2 epoch; $3 what ended before is to go (milliseconds since 1970); $4 how
-- long an attempt is kept in milliseconds, 0: for ever; $5 attempts at most. Answers how many there
-- were, how many of them had run, and what was deleted of sluice.transfer. No row: fenced.
--
-- The lease is not held: a renewal would wait for us. Rows are locked by their DELETE, so of two that
-- forget at once each row is summed by one; and what goes has been closed for 40 days at least, under
-- any leader.
-- Both clocks must agree that it is old: the leader's ($3) and that of the database.
-- An attempt with an open hold is not closed, whatever else is said of it: sluice.audit wants its RESERVE.
WITH fence AS MATERIALIZED (
	SELECT 1 FROM sluice.lease WHERE cell = $1 AND epoch = $2
), horizon AS MATERIALIZED (
	SELECT least(timestamptz 'epoch' + $3 * interval '1 millisecond',
		clock_timestamp() - $4 * interval '1 millisecond') AS at FROM fence WHERE $4 > 0
), old AS MATERIALIZED (
	SELECT $1 AS cell, job_uid, attempt
	FROM ((SELECT s.job_uid, s.attempt, s.stopped_at AS ended FROM sluice.segment s
			WHERE s.cell = $1 AND s.stopped_at < (SELECT at FROM horizon)
				AND NOT EXISTS (SELECT FROM sluice.hold h WHERE h.job_uid = s.job_uid
					AND h.attempt = s.attempt AND h.cell = s.cell)
			ORDER BY s.stopped_at, s.job_uid, s.attempt LIMIT $5)
		UNION
		(SELECT t.job_uid, t.attempt, t.at FROM sluice.transfer t
			WHERE t.cell = $1 AND t.kind = 'VOID' AND t.at < (SELECT at FROM horizon)
				AND NOT EXISTS (SELECT FROM sluice.hold h WHERE h.job_uid = t.job_uid
					AND h.attempt = t.attempt AND h.cell = t.cell)
			ORDER BY t.at, t.job_uid, t.attempt LIMIT $5)) AS closed
	ORDER BY ended, job_uid, attempt LIMIT $5
), run AS (
	DELETE FROM sluice.segment s USING old o
	WHERE s.job_uid = o.job_uid AND s.attempt = o.attempt AND s.cell = o.cell
	RETURNING s.ns, s.clusterqueue, s.localqueue, s.started_at, s.lost_ms, s.currency, s.stopped_at,
		s.cost_micro, s.estimated,
		greatest(0, extract(epoch FROM s.stopped_at - s.started_at) * 1000)::numeric AS ran_ms
), moved AS (
	DELETE FROM sluice.transfer t USING old o
	WHERE t.job_uid = o.job_uid AND t.attempt = o.attempt AND t.cell = o.cell
	RETURNING 1
), summed AS (
	INSERT INTO sluice.segment_month AS m (cell, month, ns, clusterqueue, localqueue, currency, runs,
		ran_ms, cost_micro, lost_ms, estimated_ms, estimated_micro)
	SELECT $1, date_trunc('month', started_at, 'UTC') AS month, ns, clusterqueue, localqueue,
		coalesce(currency, '') AS money, count(*), sum(ran_ms), sum(cost_micro),
		sum(coalesce(lost_ms, 0)), sum(estimated::int * ran_ms),
		sum(estimated::int * coalesce(cost_micro, 0))
	FROM run GROUP BY month, ns, clusterqueue, localqueue, money
	ORDER BY month, ns, clusterqueue, localqueue, money
	ON CONFLICT (cell, month, ns, clusterqueue, localqueue, currency) DO UPDATE
	SET runs = m.runs + excluded.runs, ran_ms = m.ran_ms + excluded.ran_ms,
		cost_micro = m.cost_micro + excluded.cost_micro, lost_ms = m.lost_ms + excluded.lost_ms,
		estimated_ms = m.estimated_ms + excluded.estimated_ms,
		estimated_micro = m.estimated_micro + excluded.estimated_micro
), told AS (
	INSERT INTO sluice.retention AS r (cell, keep, looked_at, caught_up_at, forgotten_until)
	SELECT $1, justify_hours(nullif($4, 0) * interval '1 millisecond'), clock_timestamp(),
		CASE WHEN (SELECT count(*) FROM old) < $5 THEN clock_timestamp() END,
		(SELECT max(stopped_at) FROM run)
	FROM fence
	ON CONFLICT (cell) DO UPDATE
	SET keep = excluded.keep, looked_at = excluded.looked_at,
		caught_up_at = coalesce(excluded.caught_up_at, r.caught_up_at),
		forgotten_until = greatest(r.forgotten_until, excluded.forgotten_until)
)
SELECT (SELECT count(*) FROM old), (SELECT count(*) FROM run), (SELECT count(*) FROM moved) FROM fence
