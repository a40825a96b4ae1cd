-- What was spent on runs that began since a moment and ended in a stretch of time, by queue, currency
-- and the quarter of an hour of their start: $1 cell, $2 session, $3 epoch; $4 began since, $5 ended
-- from, $6 ended before (milliseconds since 1970). No row: fenced. One row with NULLs: nothing.
WITH fence AS MATERIALIZED (
	SELECT 1 FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2 FOR SHARE
), spent AS (
	SELECT clusterqueue, ns, localqueue, currency, sum(cost_micro)::int8 AS cost,
		(floor(extract(epoch FROM started_at) / 900) * 900000)::int8 AS started
	FROM sluice.segment
	WHERE cell = $1 AND stopped_at >= timestamptz 'epoch' + $5 * interval '1 millisecond'
		AND stopped_at < timestamptz 'epoch' + $6 * interval '1 millisecond'
		AND started_at >= timestamptz 'epoch' + $4 * interval '1 millisecond'
		AND cost_micro <> 0
	GROUP BY clusterqueue, ns, localqueue, currency, started
)
SELECT clusterqueue, ns, localqueue, currency, started, cost FROM fence LEFT JOIN spent ON true
ORDER BY started, clusterqueue, ns, localqueue, currency
