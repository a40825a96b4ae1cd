-- Which SHRINKs and GROWs took effect before: their numbers, from 1. $1 cell; $2..$5 uid, attempt,
-- kind, seq. (Of all other operations on an open hold, its state tells.)
SELECT o.i::int4
FROM unnest($2::uuid[], $3::int4[], $4::text[], $5::int4[]) WITH ORDINALITY
		AS o (job_uid, attempt, kind, seq, i),
	LATERAL (SELECT FROM sluice.transfer t WHERE t.cell = $1 AND t.job_uid = o.job_uid
		AND t.attempt = o.attempt AND t.kind = o.kind AND t.seq = o.seq LIMIT 1) AS t
