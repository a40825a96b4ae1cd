-- Attempts that ran and have ended. One that a program of version 1 began is ended: what was said
-- first stays, the work lost is the most said.
INSERT INTO sluice.segment AS s (cell, job_uid, attempt, ns, name, clusterqueue, localqueue, started_at,
	stopping_at, stopped_at, reason, actor, lost_ms, lines, owner, labels, plan, currency, price,
	cost_micro, estimated, created_at, job_outcome, submitted_by, queued_at)
SELECT $1, n.* FROM unnest($4::uuid[], $5::int4[], $6::text[], $7::text[], $8::text[], $9::text[],
	$10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::text[], $14::text[],
	$15::int8[], $16::jsonb[], $17::text[], $18::jsonb[], $19::text[], $20::text[], $21::jsonb[],
	$22::int8[], $23::bool[], $24::timestamptz[], $25::text[], $26::text[],
	$27::timestamptz[]) AS n
WHERE EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
ON CONFLICT (job_uid, attempt, cell) DO UPDATE
SET stopping_at = coalesce(s.stopping_at, excluded.stopping_at), stopped_at = excluded.stopped_at,
	reason = coalesce(s.reason, excluded.reason), actor = coalesce(s.actor, excluded.actor),
	lost_ms = greatest(s.lost_ms, excluded.lost_ms), owner = excluded.owner,
	labels = excluded.labels, plan = excluded.plan, currency = excluded.currency,
	price = excluded.price, cost_micro = excluded.cost_micro, created_at = excluded.created_at,
	job_outcome = excluded.job_outcome, submitted_by = excluded.submitted_by,
	queued_at = excluded.queued_at
WHERE s.stopped_at IS NULL
