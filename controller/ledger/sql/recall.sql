-- A page of the runs that have ended, in the order in which they did: $1 cell, $2 session, $3 epoch;
-- $4, $5, $6 where the last page ended (microseconds since 2000, uid, attempt), $7 segments in a page.
-- A row for each line of what was held for a time, from the segment's start on: first what was held
-- until its end, then what a SHRINK gave back before it, and, below 0, what a GROW took after the
-- start (held_until tells them apart). A segment that held nothing has one row without a line. No row:
-- fenced. One row with uid NULL: no more segments.
-- The segment has what was held at COMMIT, so what was taken since then is added, and what was freed
-- comes off it. (A SHRINK that came between a STOP and a late COMMIT is taken off twice: hence the
-- greatest.)
WITH fence AS MATERIALIZED (
	SELECT 1 FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2 FOR SHARE
), page AS (
	SELECT * FROM sluice.segment
	WHERE cell = $1 AND (stopped_at, job_uid, attempt)
		> (timestamptz '2000-01-01 00:00:00+00' + $4 * interval '1 microsecond', $5, $6::int4)
	ORDER BY stopped_at, job_uid, attempt LIMIT $7
)
SELECT p.job_uid, p.attempt, p.ns, p.localqueue, p.clusterqueue, p.started_at, p.stopped_at,
	h.held_until, h.node, h.flavor, h.resource, h.amount
FROM fence LEFT JOIN page p ON true
LEFT JOIN LATERAL (
	WITH freed AS (
		SELECT t.at, l ->> 0 AS node, l ->> 1 AS flavor, l ->> 2 AS resource,
			(l ->> 3)::int8 * CASE t.kind WHEN 'SHRINK' THEN 1 ELSE -1 END AS amount
		FROM sluice.transfer t, jsonb_array_elements(t.lines) AS l
		WHERE t.cell = $1 AND t.job_uid = p.job_uid AND t.attempt = p.attempt
			AND t.kind IN ('SHRINK', 'GROW') AND coalesce(t.source, t.target) <> 'pending'
	)
	SELECT p.stopped_at AS held_until, node, flavor, resource,
		greatest(0, sum(amount))::int8 AS amount
	FROM (SELECT l ->> 0 AS node, l ->> 1 AS flavor, l ->> 2 AS resource, (l ->> 3)::int8 AS amount
			FROM jsonb_array_elements(p.lines) AS l
		UNION ALL SELECT node, flavor, resource, -amount FROM freed) AS kept
	GROUP BY node, flavor, resource HAVING sum(amount) > 0
	UNION ALL
	SELECT greatest(p.started_at, least(at, p.stopped_at)), node, flavor, resource, amount FROM freed
) AS h ON true
ORDER BY p.stopped_at, p.job_uid, p.attempt, h.held_until DESC, h.node, h.flavor, h.resource
