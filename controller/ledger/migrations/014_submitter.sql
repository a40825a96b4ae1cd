-- The ledger, addition 14: who submitted a Job.
--
-- A program before it goes on beside it, also as the leader: what it writes has no name, and its bill of
-- a run whose reservation has one has none either.

ALTER TABLE sluice.hold ADD submitted_by text;
COMMENT ON COLUMN sluice.hold.submitted_by IS
	'the user who submitted the Job, as the API server knew the name (annotation sluice.dev/submitted-by; its first 253 bytes); NULL: not known';

ALTER TABLE sluice.segment ADD submitted_by text;
COMMENT ON COLUMN sluice.segment.submitted_by IS
	'the user who submitted the Job, as the API server knew the name (annotation sluice.dev/submitted-by; its first 253 bytes); NULL: not known';

CREATE OR REPLACE VIEW sluice.cost AS
	SELECT cell, ns AS namespace, name, job_uid, attempt, owner, clusterqueue, localqueue, labels,
		started_at, stopped_at, reason,
		greatest(0, extract(epoch FROM stopped_at - started_at))::numeric AS run_seconds,
		(greatest(0, extract(epoch FROM stopped_at - started_at))
			* (SELECT sum((l ->> 3)::bigint) FROM jsonb_array_elements(lines) AS l
				WHERE l ->> 2 = 'pods')
			+ coalesce((SELECT sum((l ->> 3)::bigint * CASE t.kind WHEN 'GROW' THEN 1 ELSE -1 END
					* greatest(0, extract(epoch FROM s.stopped_at
						- greatest(s.started_at, t.at))))
				FROM sluice.transfer t, jsonb_array_elements(t.lines) AS l
				WHERE t.cell = s.cell AND t.job_uid = s.job_uid AND t.attempt = s.attempt
					AND t.kind IN ('SHRINK', 'GROW') AND coalesce(t.source, t.target) <> 'pending'
					AND l ->> 2 = 'pods'), 0))::numeric AS pod_seconds,
		plan, currency, cost_micro::numeric / 1000000 AS cost,
		coalesce(lost_ms, 0)::numeric / 1000 AS lost_seconds, estimated, submitted_by
	FROM sluice.segment s WHERE stopped_at IS NOT NULL;
COMMENT ON COLUMN sluice.cost.submitted_by IS
	'the user who submitted the Job (a ServiceAccount: system:serviceaccount:NAMESPACE:NAME); NULL: not known';
