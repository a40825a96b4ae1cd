-- How long the last runs of each family took that ended well: at most $5 of each, of the last $6 runs
-- of all that ended since $4 (milliseconds since 1970); the oldest first. $1 cell, $2 session, $3 epoch.
-- What is not one of a family has its own name for an owner. No row: fenced. One row with NULLs: none.
-- The bound on all keeps a takeover short in a ledger of millions of runs.
WITH fence AS MATERIALIZED (
	SELECT 1 FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2 FOR SHARE
), lately AS (
	SELECT * FROM sluice.segment
	WHERE cell = $1 AND stopped_at >= timestamptz 'epoch' + $4 * interval '1 millisecond'
	ORDER BY stopped_at DESC, job_uid DESC, attempt DESC LIMIT $6
), run AS (
	SELECT ns, owner, stopped_at, job_uid, attempt,
		(extract(epoch FROM coalesce(stopping_at, stopped_at) - started_at) * 1000)::int8 AS ran,
		row_number() OVER (PARTITION BY ns, owner
			ORDER BY stopped_at DESC, job_uid DESC, attempt DESC) AS n
	FROM lately WHERE reason = 'Finished' AND owner <> '' AND owner <> name
)
SELECT ns, owner, ran FROM fence LEFT JOIN run ON n <= $5
ORDER BY stopped_at, job_uid, attempt
