INSERT INTO sluice.hold (cell, job_uid, attempt, state, ns, name, clusterqueue, reserved_at,
	started_at, lines)
SELECT $1, n.* FROM unnest($4::uuid[], $5::int4[], $6::text[], $7::text[], $8::text[], $9::text[],
	$10::timestamptz[], $11::timestamptz[], $12::jsonb[]) AS n
WHERE EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
