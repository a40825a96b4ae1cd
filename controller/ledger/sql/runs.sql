-- The runs of Jobs, the newest first, each as a JSON object (docs/visibility.md, JobHistory): $1 cell; $2, $3
-- ended, or go on, at $2 or later, and begun before $3 (milliseconds since 1970); $4 the namespace, '' all;
-- $5 the Job's name, '' all; $6 who submitted it, '' all; $7 rows at most. For people: no fence.
-- Who may see one namespace alone is not told the names of Jobs of another.
SELECT jsonb_strip_nulls(jsonb_build_object('namespace', namespace, 'job', name, 'uid', job_uid,
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
	'waitSeconds', round(extract(epoch FROM started_at - queued_at), 3),
	'runSeconds', CASE WHEN started_at IS NOT NULL THEN round(run_seconds, 3) END,
	'cpuHours', round(cpu_hours, 6), 'gpuHours', round(gpu_hours, 6),
	'lostSeconds', round(lost_seconds, 3), 'currency', currency,
	'cost', round(cost, greatest(2, scale(trim_scale(cost))))::text,
	'estimated', CASE WHEN estimated THEN true END))::text
FROM sluice.run
WHERE cell = $1 AND ended_by >= timestamptz 'epoch' + $2 * interval '1 millisecond'
	AND coalesce(started_at, reserved_at) < timestamptz 'epoch' + $3 * interval '1 millisecond'
	AND ($4 = '' OR namespace = $4) AND ($5 = '' OR name = $5)
	AND ($4 = '' OR $5 = '' -- as the index segment_by_name has it
		OR hashtextextended(namespace || '/' || name, 0) = hashtextextended($4 || '/' || $5, 0))
	AND ($6 = '' OR submitted_by = $6)
ORDER BY coalesce(started_at, 'infinity') DESC, ended_by DESC, job_uid, attempt DESC LIMIT $7
