-- What a batch must know of the holds it names. $1 cell, $2 session, $3 epoch; $4, $5 uid and
-- attempt of each, $6 whether it is to be reserved. A row for each line of each hold, at least one
-- for each hold, with its number from 1; no row at all: fenced. last_attempt is only looked for
-- where a RESERVE may turn out to be spent.
-- LATERAL with LIMIT keeps the planner to one index lookup each, whatever it believes of the size
-- of a table that was never analyzed.
WITH fence AS MATERIALIZED (
	SELECT 1 FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2 FOR SHARE
)
SELECT o.i::int4, h.state, h.ns, h.name, h.clusterqueue, h.reserved_at, h.started_at,
	CASE WHEN o.reserving THEN (SELECT max(t.attempt) FROM sluice.transfer t
		WHERE t.cell = $1 AND t.job_uid = o.job_uid AND t.kind = 'RESERVE') END,
	l.node, l.flavor, l.resource, l.amount
FROM fence
LEFT JOIN unnest($4::uuid[], $5::int4[], $6::bool[]) WITH ORDINALITY
	AS o (job_uid, attempt, reserving, i) ON true
LEFT JOIN LATERAL (SELECT * FROM sluice.hold h
	WHERE h.cell = $1 AND h.job_uid = o.job_uid AND h.attempt = o.attempt LIMIT 1) AS h ON true
LEFT JOIN LATERAL jsonb_to_recordset(h.lines)
	AS l (node text, flavor text, resource text, amount int8) ON true
