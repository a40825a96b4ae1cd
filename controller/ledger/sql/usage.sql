-- What the runs of a ClusterQueue held, in equal steps of a stretch of time: $1 cell; $2, $3 from and before
-- (milliseconds since 1970); $4 the ClusterQueue; $5 how long a step is (milliseconds; the last one may be
-- shorter); $6 rows at most. A row for each flavor and resource, as a JSON object: the average in each step,
-- in the units of the lines. For people: no fence.
-- A run counts from its start until no pod is left. Only runs that were under way are read: the index is by
-- the end.
-- A run is not split into steps. What it held, and what it grew or shrank by, is a change at its beginning
-- and the opposite change at its end. So an answer costs as much as there are runs, whatever their length.
-- Many runs have the same lines: changes are counted first, and lines are taken apart once for each count.
WITH run AS MATERIALIZED (
	SELECT job_uid, attempt, lines,
		greatest(0, (extract(epoch FROM started_at) * 1000)::int8 - $2) AS began,
		(extract(epoch FROM least(ended_by, timestamptz 'epoch' + $3 * interval '1 millisecond'))
			* 1000)::int8 - $2 AS ended
	FROM sluice.run
	WHERE cell = $1 AND clusterqueue = $4
		AND ended_by > timestamptz 'epoch' + $2 * interval '1 millisecond'
		AND started_at < timestamptz 'epoch' + $3 * interval '1 millisecond'
), held AS (
	SELECT lines, 1 AS sign, began, ended FROM run
	UNION ALL
	SELECT t.lines, CASE t.kind WHEN 'GROW' THEN 1 ELSE -1 END,
		greatest(began, (extract(epoch FROM t.at) * 1000)::int8 - $2), ended
	FROM run JOIN sluice.transfer t ON t.job_uid = run.job_uid AND t.attempt = run.attempt
		AND t.kind IN ('SHRINK', 'GROW') AND t.cell = $1
		AND coalesce(t.source, t.target) <> 'pending'
), counted AS (
	-- How often lines came more than they went in a step, and for how long of it.
	SELECT lines, at / $5 AS step, sum(change) AS times,
		sum(change * (least((at / $5 + 1) * $5, $3 - $2) - at)) AS for_ms
	FROM held, LATERAL (VALUES (began, sign), (ended, -sign)) AS ends (at, change)
	WHERE began < ended AND at < $3 - $2 GROUP BY lines, at / $5
), change AS (
	SELECT l ->> 1 AS flavor, l ->> 2 AS resource, step, (l ->> 3)::numeric * times AS amount,
		(l ->> 3)::numeric * for_ms AS for_ms
	FROM counted, jsonb_array_elements(lines) AS l
), sums AS (
	SELECT flavor, resource, step, sum(amount) AS amount, sum(for_ms) AS for_ms
	FROM (SELECT flavor, resource, step, amount, for_ms FROM change
		UNION ALL
		SELECT flavor, resource, step, 0, 0 -- also a step without a change
		FROM (SELECT DISTINCT flavor, resource FROM change) AS each,
			generate_series(0, ($3 - $2 - 1) / $5) AS step) AS changes
	GROUP BY flavor, resource, step
), average AS (
	-- What was held before a step counts for all of it.
	SELECT flavor, resource, step, sum(amount) OVER until_then - amount
		+ for_ms / least($5, $3 - $2 - step * $5) AS units
	FROM sums WINDOW until_then AS (PARTITION BY flavor, resource ORDER BY step)
)
SELECT jsonb_build_object('name', flavor, 'resource', resource, 'units',
	jsonb_agg(round(greatest(0, units), 3)::float8 ORDER BY step))::text
FROM average GROUP BY flavor, resource ORDER BY flavor COLLATE "C", resource COLLATE "C" LIMIT $6
