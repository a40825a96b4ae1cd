-- How long the last runs took that ended well: at most $5 of each family, and of each user in a LocalQueue
-- of those that are of no family; of the last $6 runs of all that ended since $4 (milliseconds since 1970);
-- the oldest first. $1 cell, $2 session, $3 epoch. What is not one of a family has its own name for an
-- owner. No row: fenced. One row with NULLs: none. The bound on all keeps a takeover short in a ledger of
-- millions of runs.
WITH fence AS MATERIALIZED (
	SELECT 1 FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2 FOR SHARE
), lately AS (
	SELECT * FROM sluice.segment
	WHERE cell = $1 AND stopped_at >= timestamptz 'epoch' + $4 * interval '1 millisecond'
	ORDER BY stopped_at DESC, job_uid DESC, attempt DESC LIMIT $6
), run AS (
	SELECT ns, family, localqueue, clusterqueue, submitter, stopped_at, job_uid, attempt,
		(extract(epoch FROM coalesce(stopping_at, stopped_at) - started_at) * 1000)::int8 AS ran,
		row_number() OVER (PARTITION BY ns, family,
				CASE WHEN family = '' THEN localqueue END, CASE WHEN family = '' THEN submitter END
			ORDER BY stopped_at DESC, job_uid DESC, attempt DESC) AS n
	FROM lately,
		LATERAL (SELECT CASE WHEN owner <> name THEN owner ELSE '' END AS family,
			coalesce(submitted_by, '') AS submitter) AS asked
	WHERE reason = 'Finished' AND owner <> ''
)
SELECT ns, family, ran, localqueue, clusterqueue, submitter FROM fence LEFT JOIN run ON n <= $5
ORDER BY stopped_at, job_uid, attempt
