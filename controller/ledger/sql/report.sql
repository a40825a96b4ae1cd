-- Sums over the runs that started in a stretch of time, a row for each key and currency: $1 cell;
-- $2, $3 from and before (milliseconds since 1970); $4 by what (queue, namespace, owner, user, label), $5
-- the label's key, $6 rows at most, $7 the namespace, '' all. As JSON objects (UsageReport in
-- controller/answers/discovery.c), with whether it is a total: first the totals of each currency, then the
-- dearest. For people: no fence. A run that started since then has ended since then: the index is by the end.
-- (A day is for clocks.) Runs that were adopted did not wait for a start of ours.
-- A run without a bill (it goes on, or had no PricePlan) counts in the row of its key's bills, and in their
-- total: else each key and the total come twice while something runs. Where these bills are in several
-- currencies it has a row of its own, for it is of none of them.
-- By owner a key may be a Job, and there may be as many keys as runs. So all of a key is worked out for those that
-- are shown alone. Nothing is joined by key: our connections have nested loops alone (settings.sql), which would
-- compare each run with each key. "IS TRUE" keeps Postgres from making such a join of the IN.
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
), keys AS (
	SELECT key, min(currency) AS first, max(currency) AS last, sum(cost) AS cost, sum(run_seconds) AS run_seconds
	FROM run GROUP BY key
), dearest AS ( -- the keys with the rows that are shown; sole: its only currency
	SELECT key, sole FROM (
		SELECT key, first AS sole, first AS currency, cost, run_seconds FROM keys
		WHERE first IS NOT DISTINCT FROM last
		UNION ALL
		SELECT key, NULL, currency, sum(cost), sum(run_seconds) FROM run
		WHERE (coalesce('=' || key, '') IN (
			SELECT coalesce('=' || key, '') FROM keys WHERE first <> last)) IS TRUE
		GROUP BY key, currency) AS each
	ORDER BY cost DESC NULLS LAST, run_seconds DESC, key, currency LIMIT $6
), shown AS (
	SELECT coalesce(jsonb_object_agg(coalesce('=' || key, ''), sole), '{}') AS keys,
		(SELECT CASE WHEN min(first) = max(last) THEN min(first) END FROM keys) AS sole
	FROM dearest
), placed AS (
	SELECT true AS is_total, NULL AS key, coalesce(currency, sole) AS currency, job_uid, state, reason, wait,
		run_seconds, cpu_hours, gpu_hours, lost_seconds, cost, estimated
	FROM run CROSS JOIN shown
	UNION ALL
	SELECT false, key, coalesce(currency, keys ->> coalesce('=' || key, '')), job_uid, state, reason, wait,
		run_seconds, cpu_hours, gpu_hours, lost_seconds, cost, estimated
	FROM run CROSS JOIN shown WHERE keys ? coalesce('=' || key, '')
), sums AS (
	SELECT key, currency, is_total, count(DISTINCT job_uid) AS jobs,
		count(*) AS starts, count(*) FILTER (WHERE state <> 'Ended') AS running,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY wait) AS wait_p50,
		percentile_cont(0.99) WITHIN GROUP (ORDER BY wait) AS wait_p99,
		sum(run_seconds) AS run_seconds, sum(cpu_hours) AS cpu_hours, sum(gpu_hours) AS gpu_hours,
		sum(lost_seconds) AS lost_seconds, sum(cost) AS cost,
		coalesce(sum(cost) FILTER (WHERE estimated), 0) AS estimated_cost,
		array_agg(reason) FILTER (WHERE reason IS NOT NULL) AS reasons
	FROM placed GROUP BY is_total, key, currency
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
