-- Sums over the runs that started in a stretch of time, a row for each key and currency: $1 cell;
-- $2, $3 from and before (milliseconds since 1970); $4 by what (queue, namespace, owner, user, label), $5
-- the label's key, $6 rows at most, $7 the namespace, '' all. As JSON objects (UsageReport in
-- controller/visibility/discovery.c), with whether it is a total: first the totals of each currency, then the
-- dearest. For people: no fence. A run that started since then has ended since then: the index is by the end.
-- (A day is for clocks.) Runs that were adopted did not wait for a start of ours.
-- A run without a bill (it goes on, or had no PricePlan) counts in the row of its key's bills, and in their
-- total: else each key and the total come twice while something runs. Where these bills are in several
-- currencies it has a row of its own, for it is of none of them. (Windows or more sets take half as long again.)
WITH run AS (
	SELECT CASE $4 WHEN 'queue' THEN clusterqueue WHEN 'namespace' THEN namespace
			WHEN 'owner' THEN namespace || '/' || coalesce(nullif(owner, ''), name)
			WHEN 'user' THEN submitted_by ELSE labels ->> $5 END AS key,
		currency, job_uid, state, CASE WHEN state = 'Ended' THEN reason END AS reason,
		CASE WHEN NOT estimated AND queued_at IS NOT NULL
			THEN greatest(0, extract(epoch FROM started_at - queued_at)) END AS wait,
		run_seconds, cpu_hours, gpu_hours, lost_seconds, cost, estimated
	FROM sluice.run
	WHERE cell = $1
		AND ended_by >= timestamptz 'epoch' + $2 * interval '1 millisecond' - interval '1 day'
		AND started_at >= timestamptz 'epoch' + $2 * interval '1 millisecond'
		AND started_at < timestamptz 'epoch' + $3 * interval '1 millisecond'
		AND ($7 = '' OR namespace = $7)
), bills AS (
	SELECT coalesce('=' || key, '') AS of_key, min(currency) AS first, max(currency) AS last FROM run GROUP BY key
), placed AS (
	SELECT run.*, coalesce(currency, CASE WHEN first = last THEN first END) AS key_currency,
		coalesce(currency, (SELECT CASE WHEN min(first) = max(last) THEN min(first) END FROM bills)) AS total_currency
	FROM run JOIN bills ON of_key = coalesce('=' || key, '')
), sums AS (
	SELECT key, CASE WHEN grouping(key) = 1 THEN total_currency ELSE key_currency END AS currency,
		grouping(key) = 1 AS is_total, count(DISTINCT job_uid) AS jobs,
		count(*) AS starts, count(*) FILTER (WHERE state <> 'Ended') AS running,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY wait) AS wait_p50,
		percentile_cont(0.99) WITHIN GROUP (ORDER BY wait) AS wait_p99,
		sum(run_seconds) AS run_seconds, sum(cpu_hours) AS cpu_hours, sum(gpu_hours) AS gpu_hours,
		sum(lost_seconds) AS lost_seconds, sum(cost) AS cost,
		coalesce(sum(cost) FILTER (WHERE estimated), 0) AS estimated_cost,
		array_agg(reason) FILTER (WHERE reason IS NOT NULL) AS reasons
	FROM placed GROUP BY GROUPING SETS ((key, key_currency), (total_currency))
	ORDER BY 3 DESC, sum(cost) DESC NULLS LAST, sum(run_seconds) DESC, 1, 2 LIMIT $6
)
SELECT jsonb_build_object('key', key, 'currency', currency, 'jobs', jobs, 'starts', starts,
	'running', running, 'ended', coalesce((SELECT jsonb_object_agg(reason, n) FROM (
		SELECT reason, count(*) AS n FROM unnest(reasons) AS reason GROUP BY reason) AS each), '{}'),
	'waitP50Seconds', round(wait_p50::numeric, 3), 'waitP99Seconds', round(wait_p99::numeric, 3),
	'runSeconds', round(run_seconds, 3), 'cpuHours', round(cpu_hours, 6),
	'gpuHours', round(gpu_hours, 6), 'lostSeconds', round(lost_seconds, 3),
	'cost', round(cost, greatest(2, scale(trim_scale(cost))))::text,
	'estimatedCost', CASE WHEN currency IS NOT NULL
		THEN round(estimated_cost, greatest(2, scale(trim_scale(estimated_cost))))::text END)::text,
	is_total
FROM sums ORDER BY is_total DESC, cost DESC NULLS LAST, run_seconds DESC, key, currency
