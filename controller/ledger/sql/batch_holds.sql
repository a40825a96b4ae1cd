-- What a batch must know of the holds it names. $1 cell, $2 session, $3 epoch; $4, $5 uid and
-- attempt of each, $6 whether it is to be reserved. A row for each line of each hold, at least one
-- for each hold, with its number from 1; no row at all: fenced. Whether the attempt was used before,
-- and the last one that was, is only looked for where a RESERVE may turn out to be spent.
-- LATERAL with LIMIT, and (SELECT ... LIMIT 1) in place of EXISTS, keep the planner to one index
-- lookup each, whatever it believes of the size of a table that was never analyzed (of an EXISTS it
-- once made a hash of all that was ever reserved). Lines are taken apart in the select list: as a
-- join, every hold would cost a function scan of its own. Its lines at COMMIT (l0) go beside those
-- of now (l): the shorter of the two is filled up with NULLs.
WITH fence AS MATERIALIZED (
	SELECT 1 FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2 FOR SHARE
)
SELECT i::int4, state, ns, name, clusterqueue, reserved_at, started_at, used, last_attempt,
	l ->> 0, l ->> 1, l ->> 2, (l ->> 3)::int8,
	localqueue, stopping_at, reason, actor, lost_ms,
	has_started_lines, l0 ->> 0, l0 ->> 1, l0 ->> 2, (l0 ->> 3)::int8,
	owner, labels::text, estimated, created_at, submitted_by, queued_at
FROM (SELECT o.i, h.state, h.ns, h.name, h.clusterqueue, h.reserved_at, h.started_at,
		h.localqueue, h.stopping_at, h.reason, h.actor, h.lost_ms, h.owner, h.labels,
		h.estimated, h.created_at, h.submitted_by, h.queued_at,
		CASE WHEN o.reserving THEN (SELECT true FROM sluice.transfer t WHERE t.cell = $1
			AND t.job_uid = o.job_uid AND t.attempt = o.attempt AND t.kind = 'RESERVE'
			LIMIT 1) END AS used,
		CASE WHEN o.reserving THEN (SELECT t.attempt FROM sluice.transfer t WHERE t.cell = $1
			AND t.job_uid = o.job_uid AND t.kind = 'RESERVE'
			ORDER BY t.attempt DESC LIMIT 1) END AS last_attempt,
		h.started_lines IS NOT NULL AS has_started_lines,
		jsonb_array_elements(coalesce(nullif(h.lines, '[]'), '[null]')) AS l,
		jsonb_array_elements(coalesce(nullif(h.started_lines, '[]'), '[null]')) AS l0
	FROM fence
	LEFT JOIN unnest($4::uuid[], $5::int4[], $6::bool[]) WITH ORDINALITY
		AS o (job_uid, attempt, reserving, i) ON true
	LEFT JOIN LATERAL (SELECT * FROM sluice.hold h
		WHERE h.cell = $1 AND h.job_uid = o.job_uid AND h.attempt = o.attempt LIMIT 1) AS h ON true
) AS h
