-- What Jobs did that started in a stretch of time, a row for each of whatever they are counted by: $1 cell;
-- $2, $3 from and before (milliseconds since 1970); $4 by what (queue, namespace, owner, user, label), $5
-- the label's key, $6 rows at most, $7 the namespace, '' all. As JSON objects (docs/visibility.md,
-- UsageReport), with whether it is a total: first the totals of each currency, then the dearest. For people:
-- no fence. A run that started since then has ended since then: the index is by the end. (A day is for
-- clocks.) Runs that were adopted did not wait for a start of ours.
WITH run AS MATERIALIZED (
	SELECT CASE $4 WHEN 'queue' THEN clusterqueue WHEN 'namespace' THEN namespace
			WHEN 'owner' THEN namespace || '/' || coalesce(nullif(owner, ''), name)
			WHEN 'user' THEN submitted_by ELSE labels ->> $5 END AS key,
		currency, job_uid, state, CASE WHEN state = 'Ended' THEN reason END AS reason,
		CASE WHEN NOT estimated THEN extract(epoch FROM started_at - queued_at) END AS wait,
		run_seconds, cpu_hours, gpu_hours, lost_seconds, cost, estimated
	FROM sluice.run
	WHERE cell = $1
		AND ended_by >= timestamptz 'epoch' + $2 * interval '1 millisecond' - interval '1 day'
		AND started_at >= timestamptz 'epoch' + $2 * interval '1 millisecond'
		AND started_at < timestamptz 'epoch' + $3 * interval '1 millisecond'
		AND ($7 = '' OR namespace = $7)
), sums AS (
	SELECT key, currency, grouping(key) = 1 AS is_total, count(DISTINCT job_uid) AS jobs,
		count(*) AS starts, count(*) FILTER (WHERE state <> 'Ended') AS running,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY greatest(wait, 0)) AS wait_p50,
		percentile_cont(0.99) WITHIN GROUP (ORDER BY greatest(wait, 0)) AS wait_p99,
		sum(run_seconds) AS run_seconds, sum(cpu_hours) AS cpu_hours, sum(gpu_hours) AS gpu_hours,
		sum(lost_seconds) AS lost_seconds, sum(cost) AS cost,
		coalesce(sum(cost) FILTER (WHERE estimated), 0) AS estimated_cost
	FROM run GROUP BY GROUPING SETS ((key, currency), (currency))
	ORDER BY 3 DESC, sum(cost) DESC NULLS LAST, sum(run_seconds) DESC, 1, 2 LIMIT $6
), reasons AS (
	SELECT key, currency, is_total, jsonb_object_agg(reason, n) AS ended
	FROM (SELECT key, currency, grouping(key) = 1 AS is_total, reason, count(*) AS n
		FROM run WHERE reason IS NOT NULL
		GROUP BY GROUPING SETS ((key, currency, reason), (currency, reason))) AS each
	GROUP BY key, currency, is_total
)
SELECT jsonb_build_object('key', s.key, 'currency', s.currency, 'jobs', jobs, 'starts', starts,
	'running', running, 'ended', coalesce(ended, '{}'),
	'waitP50Seconds', round(wait_p50::numeric, 3), 'waitP99Seconds', round(wait_p99::numeric, 3),
	'runSeconds', round(run_seconds, 3), 'cpuHours', round(cpu_hours, 6),
	'gpuHours', round(gpu_hours, 6), 'lostSeconds', round(lost_seconds, 3),
	'cost', round(cost, greatest(2, scale(trim_scale(cost))))::text,
	'estimatedCost', CASE WHEN s.currency IS NOT NULL
		THEN round(estimated_cost, greatest(2, scale(trim_scale(estimated_cost))))::text END)::text,
	s.is_total
FROM sums s LEFT JOIN reasons r ON s.is_total = r.is_total AND s.key IS NOT DISTINCT FROM r.key
	AND s.currency IS NOT DISTINCT FROM r.currency
ORDER BY s.is_total DESC, cost DESC NULLS LAST, run_seconds DESC, s.key, s.currency
