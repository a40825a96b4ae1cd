-- The runs of Jobs, the newest first, each as a JSON object (JobHistory in controller/answers/discovery.c):
-- $1 cell; $2, $3 ended, or go on, at $2 or later, and begun before $3 (milliseconds since 1970); $4 the
-- namespace, '' all; $5 the Job's name, '' all; $6 who submitted it, '' all; $7 rows at most. For people: no
-- fence.
-- Who may see one namespace alone is not told the names of Jobs of another.
-- First which runs: the plan is the same for all questions, so the Jobs of one name have a branch of their
-- own, which the index segment_by_name answers. Then what is shown of these alone.
WITH found AS (
	SELECT job_uid, attempt, started_at, ended_by FROM (
		SELECT cell, job_uid, attempt, started_at, stopped_at AS ended_by, submitted_by
		FROM sluice.segment
		WHERE $4 <> '' AND $5 <> '' AND ns = $4 AND name = $5
			AND hashtextextended(ns || '/' || name, 0) = hashtextextended($4 || '/' || $5, 0)
		UNION ALL
		SELECT cell, job_uid, attempt, started_at, stopped_at, submitted_by FROM sluice.segment
		WHERE ($4 = '' OR $5 = '') AND ($4 = '' OR ns = $4) AND ($5 = '' OR name = $5)) AS ended
	WHERE cell = $1 AND ended_by >= timestamptz 'epoch' + $2 * interval '1 millisecond'
		AND started_at < timestamptz 'epoch' + $3 * interval '1 millisecond'
		AND ($6 = '' OR submitted_by = $6)
	UNION ALL
	SELECT job_uid, attempt, coalesce(started_at, 'infinity'), timestamptz 'infinity' FROM sluice.hold
	WHERE cell = $1 AND ($4 = '' OR ns = $4) AND ($5 = '' OR name = $5)
		AND coalesce(started_at, reserved_at) < timestamptz 'epoch' + $3 * interval '1 millisecond'
		AND ($6 = '' OR submitted_by = $6)
	ORDER BY started_at DESC, ended_by DESC, job_uid, attempt DESC LIMIT $7
)
SELECT (SELECT jsonb_strip_nulls(jsonb_build_object('namespace', namespace, 'job', name, 'uid', job_uid,
	'attempt', attempt, 'owner', nullif(owner, ''), 'submittedBy', submitted_by,
	'clusterQueue', clusterqueue, 'queue', nullif(localqueue, ''), 'state', state,
	'queuedAt', to_char(queued_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
	'reservedAt', to_char(reserved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
	'startedAt', to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
	'stoppingAt', to_char(stopping_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
	'stoppedAt', to_char(stopped_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
	'reason', reason, 'actor', actor,
	'preemptor', CASE WHEN $4 = '' OR split_part(preemptor, '/', 1) = namespace THEN preemptor END,
	'outcome', job_outcome,
	'holds', (SELECT jsonb_object_agg(resource, amount) FROM (
		SELECT l ->> 2 AS resource, trim_scale(sum((l ->> 3)::numeric)
			/ CASE WHEN l ->> 2 = 'cpu' THEN 1000 ELSE 1 END) AS amount
		FROM jsonb_array_elements(lines) AS l GROUP BY l ->> 2) AS held),
	'flavors', (SELECT jsonb_agg(DISTINCT l ->> 1) FROM jsonb_array_elements(lines) AS l),
	'waitSeconds', CASE WHEN queued_at <= started_at
		THEN round(extract(epoch FROM started_at - queued_at), 3) END,
	'runSeconds', CASE WHEN started_at IS NOT NULL THEN round(run_seconds, 3) END,
	'cpuHours', round(cpu_hours, 6), 'gpuHours', round(gpu_hours, 6),
	'lostSeconds', round(lost_seconds, 3), 'currency', currency,
	'cost', round(cost, greatest(2, scale(trim_scale(cost))))::text,
	'estimated', CASE WHEN estimated THEN true END))::text
	FROM sluice.run AS r WHERE r.cell = $1 AND r.job_uid = found.job_uid
		AND r.attempt = found.attempt AND r.ended_by = found.ended_by)
FROM found ORDER BY started_at DESC, ended_by DESC, job_uid, attempt DESC
