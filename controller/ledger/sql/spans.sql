-- The runs of a stretch of time, folded for a line of time, each span as a JSON object (RunSpans in
-- controller/answers/discovery.c): $1 cell; $2, $3 ended, or go on, at $2 or later, and begun before $3
-- (milliseconds since 1970); $4 the namespace, '' all; $5 the ClusterQueue, '' all; $6 how long a part of the
-- stretch is (milliseconds); $7 spans at most. For people: no fence.
-- Alike runs are one span: of one ClusterQueue, namespace and owner, with the same end, and begun in the same
-- part. Parts are counted from 1970, so that a span is the same in a later answer.
-- Each ClusterQueue has its turn, and in it each namespace: the newest of each first. So 20,000 runs that
-- nothing has in common push out nobody else's. Then they are sorted; the one that is too many is the last.
-- Only runs that were under way are read: the index is by the end. No name of another namespace is in a span
-- of one: what it was stopped for is left out.
WITH run AS (
	SELECT clusterqueue, namespace, coalesce(nullif(owner, ''), name) AS sweep, name, job_uid,
		started_at, stopped_at, CASE WHEN state = 'Ended' THEN coalesce(reason, '') END AS outcome,
		div((extract(epoch FROM started_at) * 1000)::numeric, $6) AS part,
		lost_seconds, currency, cost
	FROM sluice.run
	WHERE cell = $1 AND ended_by >= timestamptz 'epoch' + $2 * interval '1 millisecond'
		AND started_at < timestamptz 'epoch' + $3 * interval '1 millisecond'
		AND ($4 = '' OR namespace = $4) AND ($5 = '' OR clusterqueue = $5)
), span AS (
	SELECT clusterqueue, namespace, sweep, outcome, (array_agg(name ORDER BY started_at, name))[1] AS name,
		count(DISTINCT job_uid) AS jobs, count(*) AS runs, min(started_at) AS began,
		max(stopped_at) AS ended, sum(lost_seconds) AS lost_seconds, min(currency) AS currency,
		CASE WHEN min(currency) = max(currency) THEN sum(cost) END AS cost
	FROM run GROUP BY clusterqueue, namespace, sweep, outcome, part
), in_namespace AS (
	SELECT *, row_number() OVER (PARTITION BY clusterqueue, namespace
		ORDER BY began DESC, name, outcome) AS place
	FROM span
), in_queue AS (
	SELECT *, row_number() OVER (PARTITION BY clusterqueue
		ORDER BY place, began DESC, namespace, name, outcome) AS turn
	FROM in_namespace
), shown AS (
	SELECT *, row_number() OVER (ORDER BY turn, clusterqueue) AS n FROM in_queue
	ORDER BY turn, clusterqueue LIMIT $7
)
SELECT jsonb_strip_nulls(jsonb_build_object('clusterQueue', clusterqueue, 'namespace', namespace, 'job', name,
	'sweep', sweep, 'jobs', jobs, 'runs', runs,
	'from', to_char(began AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
	'until', CASE WHEN outcome IS NOT NULL
		THEN to_char(ended AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END,
	'outcome', nullif(outcome, ''), 'lostSeconds', round(lost_seconds, 3),
	'currency', CASE WHEN cost IS NOT NULL THEN currency END,
	'cost', round(cost, greatest(2, scale(trim_scale(cost))))::text))::text
FROM shown ORDER BY n = $7, clusterqueue COLLATE "C", began, namespace COLLATE "C", name COLLATE "C", outcome
