-- The ledger, version 11: runs grow.
--
-- A program of version 9 may go on for a while as a leader: it writes no GROW, and of a run that grew
-- it recalls what that held at its start. It numbers its SHRINKs by the pods that are left; ours, and
-- GROWs, are numbered from 1073741824 on, so that neither is taken for one of the other's.
--
-- So runs should grow only once every replica is of this version. A leader of version 9 that follows
-- one of ours does not know:
--   - that a PATCH of a growth may be under way. It does not tell the Job its story anew, and such a
--     PATCH may land after it has taken back the quota for it;
--   - that a run has grown since it shrank. A SHRINK to as many pods as before has the number of the
--     earlier one, and changes nothing: the ledger keeps quota for more pods than there are until the
--     run ends.

-- Not compared with what is there: that is of the kinds before, and may be very much.
ALTER TABLE sluice.transfer
	DROP CONSTRAINT transfer_kind_check,
	ADD CONSTRAINT transfer_kind_check
		CHECK (kind IN ('RESERVE', 'COMMIT', 'STOP', 'SHRINK', 'GROW', 'RELEASE', 'VOID')) NOT VALID;
COMMENT ON COLUMN sluice.transfer.seq IS
	'SHRINK, GROW: 1073741824 and which change of size of its attempt it was, from 1 (SHRINK of a program of version 9: pods left); else 0';
COMMENT ON COLUMN sluice.transfer.reason IS
	'STOP, RELEASE, VOID: why. RESERVE, GROW: Adopted, the ledger had lost it';
COMMENT ON COLUMN sluice.hold.started_lines IS
	'what it held at COMMIT, if a SHRINK or GROW has changed lines since; else NULL';
COMMENT ON COLUMN sluice.segment.lines IS
	'[[node, flavor, resource, amount], ...]: what it held when it started; later SHRINKs and GROWs are in sluice.transfer';

-- Pods that a run got later, or gave back before its end, count for as long as it held them.
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
		coalesce(lost_ms, 0)::numeric / 1000 AS lost_seconds, estimated
	FROM sluice.segment s WHERE stopped_at IS NOT NULL;
COMMENT ON COLUMN sluice.cost.pod_seconds IS
	'the pods that it held, each for as long as it did; NULL where the ClusterQueue does not count pods';
