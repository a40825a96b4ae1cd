-- Holds that went on, and shrank (lines NULL: they did not).
-- OFFSET 0 hides from the planner that cell is the same in all rows: it must not read all rows of a
-- cell and then look among them.
UPDATE sluice.hold h
SET state = n.state, started_at = n.started_at, lines = coalesce(n.lines, h.lines)
FROM (SELECT $1 AS cell, n.* FROM unnest($4::uuid[], $5::int4[], $6::text[], $7::timestamptz[],
		$8::jsonb[])
	AS n (job_uid, attempt, state, started_at, lines) OFFSET 0) AS n
WHERE h.job_uid = n.job_uid AND h.attempt = n.attempt AND h.cell = n.cell
	AND EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
