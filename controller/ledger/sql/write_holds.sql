-- Holds that went on, shrank or grew (lines NULL: they did not; started_lines NULL: still what it holds).
-- OFFSET 0 hides from the planner that cell is the same in all rows: it must not read all rows of a
-- cell and then look among them.
UPDATE sluice.hold h
SET state = n.state, started_at = n.started_at, stopping_at = n.stopping_at, reason = n.reason,
	actor = n.actor, lost_ms = n.lost_ms, lines = coalesce(n.lines, h.lines),
	started_lines = n.started_lines
FROM (SELECT $1 AS cell, n.* FROM unnest($4::uuid[], $5::int4[], $6::text[], $7::timestamptz[],
		$8::timestamptz[], $9::text[], $10::text[], $11::int8[], $12::jsonb[], $13::jsonb[])
	AS n (job_uid, attempt, state, started_at, stopping_at, reason, actor, lost_ms, lines,
		started_lines) OFFSET 0) AS n
WHERE h.job_uid = n.job_uid AND h.attempt = n.attempt AND h.cell = n.cell
	AND EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
