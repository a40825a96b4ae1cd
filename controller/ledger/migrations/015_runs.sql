-- The ledger, addition 15: views with a row for each run and a row for each Job, for which Job a run was
-- preempted, and since when a Job was queued.
--
-- A program before it goes on beside it, also as the leader. Runs that it stops have no preemptor, and Jobs
-- that it starts no time of queueing but their creation.
--
-- The views are for people, as those of version 3 are: docs/queries.sql answers questions with them.

ALTER TABLE sluice.hold ADD queued_at timestamptz;
COMMENT ON COLUMN sluice.hold.queued_at IS
	'when the Job got its queue label (annotation sluice.dev/queued-at), if it was created without; NULL: at its creation';

ALTER TABLE sluice.segment ADD queued_at timestamptz;
COMMENT ON COLUMN sluice.segment.queued_at IS
	'when the Job got its queue label (annotation sluice.dev/queued-at), if it was created without; NULL: at its creation';

ALTER TABLE sluice.transfer ADD preemptor text;
COMMENT ON COLUMN sluice.transfer.preemptor IS
	'STOP, RELEASE, VOID: NAMESPACE/NAME of the Job that it was preempted for; NULL: it was not, or that Job was gone';

-- What depends on other tables is a subselect, or a left join of exactly one row, which Postgres leaves out:
-- a question that does not name the column does not pay for it.
CREATE VIEW sluice.run AS
	SELECT r.cell, r.ns AS namespace, r.name, r.job_uid, r.attempt, r.owner, r.submitted_by,
		r.clusterqueue, r.localqueue, r.labels, r.state,
		coalesce(CASE WHEN r.attempt > 1 THEN (SELECT b.stopped_at FROM sluice.segment b
			WHERE b.job_uid = r.job_uid AND b.attempt < r.attempt AND b.cell = r.cell
				AND b.stopped_at IS NOT NULL ORDER BY b.attempt DESC LIMIT 1) END,
			r.queued_at, r.created_at) AS queued_at,
		(SELECT t.at FROM sluice.transfer t
			WHERE t.job_uid = r.job_uid AND t.attempt = r.attempt AND t.kind = 'RESERVE'
				AND t.cell = r.cell) AS reserved_at,
		r.started_at, r.stopping_at, r.stopped_at, r.reason, r.actor,
		(SELECT max(t.preemptor) FROM sluice.transfer t
			WHERE t.job_uid = r.job_uid AND t.attempt = r.attempt
				AND t.kind IN ('STOP', 'RELEASE', 'VOID') AND t.cell = r.cell) AS preemptor,
		coalesce(r.job_outcome, CASE r.reason WHEN 'Finished' THEN 'Succeeded'
			WHEN 'Failed' THEN 'Failed' END) AS job_outcome,
		r.lines, r.run_seconds,
		(r.run_seconds * coalesce(held.cpu, 0) + coalesce(resized.cpu, 0)) / 3600000 AS cpu_hours,
		(r.run_seconds * coalesce(held.gpu, 0) + coalesce(resized.gpu, 0)) / 3600 AS gpu_hours,
		coalesce(r.lost_ms, 0)::numeric / 1000 AS lost_seconds, r.plan, r.currency,
		r.cost_micro::numeric / 1000000 AS cost, r.estimated, r.ended_by
	FROM (SELECT cell, ns, name, job_uid, attempt, owner, submitted_by, clusterqueue, localqueue,
			labels, 'Ended' AS state, created_at, queued_at, started_at, stopping_at, stopped_at, reason, actor,
			job_outcome, lines, stopped_at AS runs_until,
			greatest(0, extract(epoch FROM stopped_at - started_at))::numeric AS run_seconds,
			lost_ms, plan, currency, cost_micro, estimated, stopped_at AS ended_by
		FROM sluice.segment WHERE stopped_at IS NOT NULL
		UNION ALL
		SELECT cell, ns, name, job_uid, attempt, owner, submitted_by, clusterqueue, localqueue,
			labels, CASE WHEN started_at IS NULL THEN 'Reserved' WHEN state = 'posted' THEN 'Running'
				ELSE 'Stopping' END, created_at, queued_at, started_at, stopping_at, NULL, reason, actor,
			NULL, coalesce(started_lines, lines), now(),
			greatest(0, coalesce(extract(epoch FROM now() - started_at), 0))::numeric,
			lost_ms, NULL, NULL, NULL, estimated, timestamptz 'infinity'
		FROM sluice.hold) AS r
	LEFT JOIN LATERAL (SELECT sum((l ->> 3)::bigint) FILTER (WHERE l ->> 2 = 'cpu') AS cpu,
			sum((l ->> 3)::bigint) FILTER (WHERE l ->> 2 LIKE '%/gpu') AS gpu
		FROM jsonb_array_elements(r.lines) AS l) AS held ON true
	LEFT JOIN LATERAL (SELECT sum(more) FILTER (WHERE l ->> 2 = 'cpu') AS cpu,
			sum(more) FILTER (WHERE l ->> 2 LIKE '%/gpu') AS gpu
		FROM sluice.transfer t, jsonb_array_elements(t.lines) AS l,
			LATERAL (SELECT (l ->> 3)::bigint * CASE t.kind WHEN 'GROW' THEN 1 ELSE -1 END
				* greatest(0, extract(epoch FROM r.runs_until - greatest(r.started_at, t.at)))
				AS more) AS amount_seconds
		WHERE t.job_uid = r.job_uid AND t.attempt = r.attempt AND t.kind IN ('SHRINK', 'GROW')
			AND t.cell = r.cell AND coalesce(t.source, t.target) <> 'pending') AS resized ON true;
COMMENT ON VIEW sluice.run IS
	'One row for each run of a Job that the ledger knows, also of Jobs that are deleted, and also those that go on: when it was queued, started and stopped, why, for which Job it was preempted, what it held and cost.';
COMMENT ON COLUMN sluice.run.namespace IS 'of the Job';
COMMENT ON COLUMN sluice.run.attempt IS 'which run of the Job, from 1; starts that were called off count, and have no row';
COMMENT ON COLUMN sluice.run.owner IS
	'what the Job and its like have in common (CronJob/NAME, or the generateName), else its own name';
COMMENT ON COLUMN sluice.run.submitted_by IS 'the user who submitted the Job; NULL: not known';
COMMENT ON COLUMN sluice.run.labels IS 'those that bills carry (--bill-labels)';
COMMENT ON COLUMN sluice.run.state IS 'Reserved (it has not started yet), Running, Stopping (its pods are waited for), Ended';
COMMENT ON COLUMN sluice.run.queued_at IS
	'since when it waited: the creation of the Job, or when it got its queue label if that was later, or the end of its previous run; NULL: not known';
COMMENT ON COLUMN sluice.run.reserved_at IS 'when quota was reserved for it: its start was decided';
COMMENT ON COLUMN sluice.run.started_at IS 'when the start was seen; NULL: it has not started yet';
COMMENT ON COLUMN sluice.run.stopping_at IS 'when it was told to stop, or was seen to have ended, while it had pods; NULL: neither';
COMMENT ON COLUMN sluice.run.stopped_at IS 'when no pod was left; NULL: it has not ended';
COMMENT ON COLUMN sluice.run.reason IS 'Finished, Failed, or what stopped it: Preempted, WindowClosed, ...';
COMMENT ON COLUMN sluice.run.actor IS 'the party that ended it: a controller, "user", "job-controller"';
COMMENT ON COLUMN sluice.run.preemptor IS
	'NAMESPACE/NAME of the Job that it was preempted for; NULL: it was not, or that is not known';
COMMENT ON COLUMN sluice.run.job_outcome IS
	'the Job ended with this run: Succeeded, Failed, Deleted; NULL: it did not, or nobody saw it';
COMMENT ON COLUMN sluice.run.lines IS
	'[[node, flavor, resource, amount], ...]: what it held when it started; cpu in thousandths of a core, all else in whole units (bytes, devices)';
COMMENT ON COLUMN sluice.run.run_seconds IS 'from started_at to stopped_at, or until now';
COMMENT ON COLUMN sluice.run.cpu_hours IS
	'cores times hours that it held, with what it grew and shrank by';
COMMENT ON COLUMN sluice.run.gpu_hours IS
	'the same of all resources whose name ends in "/gpu", such as nvidia.com/gpu';
COMMENT ON COLUMN sluice.run.lost_seconds IS 'pod-seconds of work that its stop threw away';
COMMENT ON COLUMN sluice.run.plan IS 'the PricePlan; NULL: there was none for its queue, or it has not ended';
COMMENT ON COLUMN sluice.run.currency IS
	'of cost; costs in different currencies must not be added up; NULL without a PricePlan, and before it has ended';
COMMENT ON COLUMN sluice.run.cost IS
	'in units of the currency, exact to the millionth; NULL without a PricePlan, and before it has ended';
COMMENT ON COLUMN sluice.run.estimated IS
	'the ledger lost when this run began or ended (docs/restore.md), or it was adopted while it ran';
COMMENT ON COLUMN sluice.run.ended_by IS
	'stopped_at; infinity while it has not ended. The column to ask by for a stretch of time';

CREATE VIEW sluice.job AS
	SELECT cell, namespace, name, job_uid, max(owner) AS owner, max(submitted_by) AS submitted_by,
		max(clusterqueue) AS clusterqueue, min(queued_at) AS queued_at,
		min(started_at) AS started_at,
		CASE WHEN bool_and(state = 'Ended') THEN max(stopped_at) END AS stopped_at,
		max(job_outcome) AS outcome, count(started_at) AS runs,
		extract(epoch FROM min(started_at) - min(queued_at))::numeric AS wait_seconds,
		sum(run_seconds) AS run_seconds, sum(cpu_hours) AS cpu_hours, sum(gpu_hours) AS gpu_hours,
		sum(lost_seconds) AS lost_seconds, max(currency) AS currency,
		CASE WHEN min(currency) = max(currency) THEN sum(cost) END AS cost
	FROM sluice.run GROUP BY cell, namespace, name, job_uid;
COMMENT ON VIEW sluice.job IS
	'One row for each Job with a row in sluice.run: all its runs together. Reads every run that it is asked about: ask by namespace, name or job_uid.';
COMMENT ON COLUMN sluice.job.queued_at IS 'when it was created; NULL: not known';
COMMENT ON COLUMN sluice.job.started_at IS 'its first start; NULL: it has not started yet';
COMMENT ON COLUMN sluice.job.stopped_at IS 'the end of its last run; NULL: one goes on';
COMMENT ON COLUMN sluice.job.outcome IS
	'Succeeded, Failed, Deleted; NULL: it has not ended, or nobody saw it';
COMMENT ON COLUMN sluice.job.runs IS 'how many started';
COMMENT ON COLUMN sluice.job.wait_seconds IS 'from its creation to its first start';
COMMENT ON COLUMN sluice.job.cost IS
	'of its runs that have ended; NULL: they had no price, or prices in different currencies';
