-- What became of the Jobs of these names: $1 cell; $2, $3 namespace and name of each; $4 Jobs at most of
-- each name, the newest, among its last $5 runs. A row for each Job: number of the name from 1, uid, whether
-- it is known to have ended and how (Succeeded, Failed, Deleted; NULL: not known), when, when it was created
-- (NULL: not known), whether it holds quota still. No row for a name that the ledger does not know.
-- For all to read: no fence. What was stopped is in the history, and a run that goes on says so.
-- The reason tells where version 9 wrote the row. Holds are few, and read whole; names are compared by
-- hand behind their hash, in the collation of the index.
WITH wanted AS MATERIALIZED (
	SELECT * FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS n (ns, name, i)
), attempts AS (
	SELECT w.i, s.job_uid, s.attempt, false AS held, s.created_at, s.started_at,
		coalesce(s.job_outcome, CASE s.reason WHEN 'Finished' THEN 'Succeeded'
			WHEN 'Failed' THEN 'Failed' END) AS outcome,
		coalesce(s.stopping_at, s.stopped_at) AS ended_at
	FROM wanted w CROSS JOIN LATERAL (SELECT * FROM sluice.segment s
		WHERE hashtextextended(s.ns || '/' || s.name, 0) = hashtextextended(w.ns || '/' || w.name, 0)
			AND s.cell = $1 AND s.ns = w.ns AND s.name = w.name AND s.stopped_at IS NOT NULL
		ORDER BY s.stopped_at DESC LIMIT $5) AS s
	UNION ALL
	SELECT w.i, h.job_uid, h.attempt, true, h.created_at, coalesce(h.started_at, h.reserved_at),
		CASE h.reason WHEN 'Finished' THEN 'Succeeded' WHEN 'Failed' THEN 'Failed' END,
		h.stopping_at
	FROM sluice.hold h JOIN wanted w ON h.ns = w.ns AND h.name = w.name
	WHERE h.cell = $1 AND h.started_at IS NOT NULL
), jobs AS (
	SELECT i, job_uid, max(outcome) AS outcome, max(ended_at) AS ended_at,
		max(created_at) AS created_at, bool_or(held) AS held,
		row_number() OVER (PARTITION BY i
			ORDER BY coalesce(max(created_at), min(started_at)) DESC, job_uid) AS n
	FROM attempts GROUP BY i, job_uid
)
SELECT i::int4, job_uid, outcome, ended_at, created_at, held FROM jobs WHERE n <= $4 ORDER BY i, n
