DELETE FROM sluice.hold h USING unnest($4::uuid[], $5::int4[]) AS n (job_uid, attempt)
WHERE h.cell = $1 AND h.job_uid = n.job_uid AND h.attempt = n.attempt
	AND EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
