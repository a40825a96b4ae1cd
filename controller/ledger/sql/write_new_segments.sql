INSERT INTO sluice.segment (cell, job_uid, attempt, ns, name, clusterqueue, started_at, stopping_at,
	stopped_at, reason, actor, lost_ms, lines)
SELECT $1, n.* FROM unnest($4::uuid[], $5::int4[], $6::text[], $7::text[], $8::text[],
	$9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::text[], $13::text[],
	$14::int8[], $15::jsonb[]) AS n
WHERE EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
