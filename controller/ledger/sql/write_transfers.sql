-- The key makes each operation take effect once, whatever else goes wrong.
INSERT INTO sluice.transfer (cell, epoch, job_uid, attempt, kind, seq, at, source, target, lines,
	reason, actor, lost_ms, preemptor)
SELECT $1, $3, t.* FROM unnest($4::uuid[], $5::int4[], $6::text[], $7::int4[], $8::timestamptz[],
	$9::text[], $10::text[], $11::jsonb[], $12::text[], $13::text[], $14::int8[], $15::text[]) AS t
WHERE EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
