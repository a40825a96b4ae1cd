-- What runs cost that started in a stretch of time: $1 cell; $2, $3 from and before (milliseconds since
-- 1970); $4 by what (queue, namespace, owner, user, label), $5 the label's key, $6 rows at most, $7 the
-- namespace, '' all. First the totals of each currency, then the dearest. For people: no fence, the
-- history does not change.
-- A run that started since then has ended since then: the index is by the end. (A day is for clocks.)
-- Of what was forgotten (forget.sql) there are sums by month, queue and namespace: those months are
-- added that lie whole in the stretch.
SELECT key, currency, sum(runs)::int8, least(sum(ran), 9223372036854775807)::int8,
	least(greatest(sum(coalesce(cost_micro, 0)), -9223372036854775808), 9223372036854775807)::int8,
	least(sum(lost_ms), 9223372036854775807)::int8, grouping(key) = 1,
	least(sum(estimated_ms), 9223372036854775807)::int8,
	least(greatest(sum(estimated_micro), -9223372036854775808), 9223372036854775807)::int8
FROM (SELECT CASE $4 WHEN 'queue' THEN clusterqueue WHEN 'namespace' THEN ns
		WHEN 'owner' THEN ns || '/' || coalesce(nullif(owner, ''), name)
		WHEN 'user' THEN submitted_by ELSE labels ->> $5 END AS key,
		currency, 1 AS runs, cost_micro::numeric, coalesce(lost_ms, 0)::numeric AS lost_ms, ran,
		estimated::int * ran AS estimated_ms,
		estimated::int * coalesce(cost_micro, 0)::numeric AS estimated_micro
	FROM sluice.segment CROSS JOIN LATERAL (SELECT
		greatest(0, extract(epoch FROM stopped_at - started_at) * 1000)::numeric AS ran) AS length
	WHERE cell = $1 AND stopped_at >= timestamptz 'epoch' + $2 * interval '1 millisecond'
			- interval '1 day'
		AND started_at >= timestamptz 'epoch' + $2 * interval '1 millisecond'
		AND started_at < timestamptz 'epoch' + $3 * interval '1 millisecond'
		AND ($7 = '' OR ns = $7)
	UNION ALL
	SELECT CASE $4 WHEN 'queue' THEN clusterqueue ELSE ns END, nullif(currency, ''), runs, cost_micro,
		lost_ms, ran_ms, estimated_ms, estimated_micro
	FROM sluice.segment_month
	WHERE cell = $1 AND $4 IN ('queue', 'namespace') AND ($7 = '' OR ns = $7)
		AND month >= timestamptz 'epoch' + $2 * interval '1 millisecond'
		AND (month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'
			<= timestamptz 'epoch' + $3 * interval '1 millisecond') AS run
GROUP BY GROUPING SETS ((key, currency), (currency))
ORDER BY 7 DESC, 5 DESC, 1, 2 LIMIT $6
