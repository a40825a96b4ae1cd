INSERT INTO sluice.hold (cell, job_uid, attempt, state, ns, name, clusterqueue, localqueue,
	reserved_at, started_at, stopping_at, reason, actor, lost_ms, lines, started_lines, owner, labels,
	estimated, created_at, submitted_by, queued_at)
SELECT $1, n.* FROM unnest($4::uuid[], $5::int4[], $6::text[], $7::text[], $8::text[], $9::text[],
	$10::text[], $11::timestamptz[], $12::timestamptz[], $13::timestamptz[], $14::text[],
	$15::text[], $16::int8[], $17::jsonb[], $18::jsonb[], $19::text[], $20::jsonb[], $21::bool[],
	$22::timestamptz[], $23::text[], $24::timestamptz[])
	AS n
WHERE EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
