-- Holds that went on, and shrank (lines NULL: they did not).
UPDATE sluice.hold h
SET state = n.state, started_at = n.started_at, lines = coalesce(n.lines, h.lines)
FROM unnest($4::uuid[], $5::int4[], $6::text[], $7::timestamptz[], $8::jsonb[])
	AS n (job_uid, attempt, state, started_at, lines)
WHERE h.cell = $1 AND h.job_uid = n.job_uid AND h.attempt = n.attempt
	AND EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
