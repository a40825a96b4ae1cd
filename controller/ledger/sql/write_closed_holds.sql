-- OFFSET 0 hides from the planner that cell is the same in all rows: it must not read all rows of a
-- cell and then look among them.
DELETE FROM sluice.hold h
USING (SELECT $1 AS cell, n.* FROM unnest($4::uuid[], $5::int4[])
	AS n (job_uid, attempt) OFFSET 0) AS n
WHERE h.job_uid = n.job_uid AND h.attempt = n.attempt AND h.cell = n.cell
	AND EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
