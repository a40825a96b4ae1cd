-- Every open hold, a row for each line (one with NULLs when it has none). $1 cell, $2 session,
-- $3 epoch; $4: beyond it the changes of size are numbered. No row: fenced. One row with uid NULL:
-- nothing is held.
WITH fence AS MATERIALIZED (
	SELECT 1 FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2 FOR SHARE
)
SELECT job_uid, attempt, state, ns, name, clusterqueue, reserved_at, started_at,
	l ->> 0, l ->> 1, l ->> 2, (l ->> 3)::int8, localqueue, estimated, sizes, owner, submitted_by
FROM (SELECT h.*, jsonb_array_elements(coalesce(nullif(h.lines, '[]'), '[null]')) AS l,
		(SELECT max(t.seq) FROM sluice.transfer t WHERE t.cell = $1 AND t.job_uid = h.job_uid
			AND t.attempt = h.attempt AND t.kind IN ('SHRINK', 'GROW') AND t.seq > $4) AS sizes
	FROM fence LEFT JOIN sluice.hold h ON h.cell = $1) AS h
ORDER BY job_uid, attempt, (l ->> 0) COLLATE "C", (l ->> 1) COLLATE "C", (l ->> 2) COLLATE "C"
