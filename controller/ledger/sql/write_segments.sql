-- Segments that end, or are told to: what was said first stays, the work lost is the most said.
-- OFFSET 0 hides from the planner that cell is the same in all rows: it must not read all rows of a
-- cell and then look among them.
UPDATE sluice.segment s
SET stopping_at = coalesce(s.stopping_at, n.stopping_at), stopped_at = n.stopped_at,
	reason = coalesce(s.reason, n.reason), actor = coalesce(s.actor, n.actor),
	lost_ms = greatest(s.lost_ms, n.lost_ms)
FROM (SELECT $1 AS cell, n.* FROM unnest($4::uuid[], $5::int4[], $6::timestamptz[],
		$7::timestamptz[], $8::text[], $9::text[], $10::int8[])
	AS n (job_uid, attempt, stopping_at, stopped_at, reason, actor, lost_ms) OFFSET 0) AS n
WHERE s.job_uid = n.job_uid AND s.attempt = n.attempt AND s.cell = n.cell
	AND EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
