-- Every open hold, a row for each line (one with NULLs when it has none). $1 cell, $2 session,
-- $3 epoch. No row: fenced. One row with uid NULL: nothing is held.
WITH fence AS MATERIALIZED (
	SELECT 1 FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2 FOR SHARE
)
SELECT h.job_uid, h.attempt, h.state, h.ns, h.name, h.clusterqueue, h.reserved_at, h.started_at,
	l.node, l.flavor, l.resource, l.amount
FROM fence
LEFT JOIN sluice.hold h ON h.cell = $1
LEFT JOIN LATERAL jsonb_to_recordset(h.lines)
	AS l (node text, flavor text, resource text, amount int8) ON true
ORDER BY h.job_uid, h.attempt, l.node COLLATE "C", l.flavor COLLATE "C", l.resource COLLATE "C"
