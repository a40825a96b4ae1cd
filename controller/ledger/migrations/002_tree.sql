-- The ledger, version 2: balances follow the quota tree, attempts know their LocalQueue, and a segment
-- is written once, when it ends.
--
-- A program of version 1 may go on for a while as the leader of another cell. What it does not name
-- has a default that means what it always meant: no parent, nothing guaranteed, nothing from members.
-- It still begins segments at COMMIT and ends them at RELEASE; whoever finds such a segment begun
-- ends it.

ALTER TABLE sluice.balance
	ADD parent     text COLLATE "C" NOT NULL DEFAULT '',
	ADD guaranteed bigint NOT NULL DEFAULT 0,
	ADD members    bigint NOT NULL DEFAULT 0,
	ADD CONSTRAINT balance_tree_not_negative CHECK (guaranteed >= 0 AND members >= 0),
	DROP CONSTRAINT balance_within_ceiling,
	ADD CONSTRAINT balance_within_ceiling CHECK (pending + posted + releasing + members <= ceiling);
COMMENT ON TABLE sluice.balance IS
	'How much of a resource in a flavor is used at a node of the quota tree: what Jobs hold there (pending + posted + releasing, at a ClusterQueue) and what its children pass up (members, at a Cohort). Amounts are int64: milli-CPU for cpu, bytes for memory and storage, whole units for everything else (pods, devices).';
COMMENT ON COLUMN sluice.balance.parent IS 'the node above, a row of the same flavor and resource; empty when there is none';
COMMENT ON COLUMN sluice.balance.guaranteed IS
	'the part of this node''s quota that it never lends: use within it does not count at the parent';
COMMENT ON COLUMN sluice.balance.members IS
	'what its children pass up: the sum over them of greatest(0, use - guaranteed). Derived, and kept because the CHECK needs it; sluice.audit adds it up anew';
COMMENT ON COLUMN sluice.balance.wanted IS
	'what the node may use by what admins want: its quota and what it may borrow; 9223372036854775807: only the nodes above limit it';
COMMENT ON COLUMN sluice.balance.ceiling IS
	'greatest(wanted, what is used): a quota lowered below use, or a node moved below another, never fails, it only stops growth, and each release brings the ceiling down with it';

ALTER TABLE sluice.hold
	ADD localqueue    text NOT NULL DEFAULT '',
	ADD stopping_at   timestamptz,
	ADD reason        text,
	ADD actor         text,
	ADD lost_ms       bigint,
	ADD started_lines jsonb;
COMMENT ON COLUMN sluice.hold.localqueue IS 'the LocalQueue that the Job was in when it was reserved; empty: written by version 1';
COMMENT ON COLUMN sluice.hold.stopping_at IS 'when STOP was decided; NULL: it was not';
COMMENT ON COLUMN sluice.hold.reason IS 'why it stops (STOP)';
COMMENT ON COLUMN sluice.hold.actor IS 'who stopped it (STOP): a controller, or "user"';
COMMENT ON COLUMN sluice.hold.lost_ms IS 'pod-milliseconds of work thrown away, as far as STOP knew';
COMMENT ON COLUMN sluice.hold.started_lines IS 'what it held at COMMIT, if a SHRINK has lowered lines since; else NULL';

ALTER TABLE sluice.segment
	ADD localqueue text NOT NULL DEFAULT '';
COMMENT ON TABLE sluice.segment IS
	'One row per attempt that ran, written when it has ended: the bill, the fair share over time, and the history that estimates durations. What runs is in sluice.hold.';
COMMENT ON COLUMN sluice.segment.localqueue IS 'the LocalQueue that the Job was in when it was reserved; empty: written by version 1';
COMMENT ON COLUMN sluice.segment.stopped_at IS 'when no pod was left (RELEASE); NULL: begun by a program of version 1, and not ended';

-- In the order of time: what a new leader reads back for fair share over time (sql/recall.sql).
CREATE INDEX segment_by_end ON sluice.segment (cell, stopped_at, job_uid, attempt);
COMMENT ON INDEX sluice.segment_by_end IS 'segments in the order in which they ended';

-- ---------------------------------------------------------------------------------------------

CREATE VIEW sluice.balance_use AS
	SELECT cell, node, flavor, resource, parent, pending + posted + releasing + members AS use,
		ceiling, greatest(0, pending + posted + releasing + members - guaranteed) AS passed_up
	FROM sluice.balance;
COMMENT ON VIEW sluice.balance_use IS 'What each node uses, and what of it counts at its parent.';

CREATE OR REPLACE VIEW sluice.audit AS
	WITH held AS (
		SELECT cell, node, flavor, resource,
			coalesce(sum(amount) FILTER (WHERE state = 'pending'), 0) AS pending,
			coalesce(sum(amount) FILTER (WHERE state = 'posted'), 0) AS posted,
			coalesce(sum(amount) FILTER (WHERE state = 'releasing'), 0) AS releasing
		FROM sluice.hold_line GROUP BY cell, node, flavor, resource
	), passed AS (
		SELECT cell, parent AS node, flavor, resource, sum(passed_up) AS members
		FROM sluice.balance_use WHERE parent <> '' GROUP BY cell, parent, flavor, resource
	)
	SELECT cell, 'balance is not what is held' AS fault,
		concat_ws(' ', node, flavor, resource) AS subject,
		format('balance %s/%s/%s, holds %s/%s/%s', b.pending, b.posted, b.releasing,
			h.pending, h.posted, h.releasing) AS detail
	FROM sluice.balance b FULL JOIN held h USING (cell, node, flavor, resource)
	WHERE (coalesce(b.pending, 0), coalesce(b.posted, 0), coalesce(b.releasing, 0))
		<> (coalesce(h.pending, 0), coalesce(h.posted, 0), coalesce(h.releasing, 0))
	UNION ALL
	SELECT cell, 'members is not what the children pass up',
		concat_ws(' ', node, flavor, resource),
		format('members %s, children pass up %s', coalesce(b.members::text, 'without a row'),
			coalesce(p.members, 0))
	FROM sluice.balance b FULL JOIN passed p USING (cell, node, flavor, resource)
	WHERE b.cell IS NULL OR b.members <> coalesce(p.members, 0)
	UNION ALL
	SELECT cell, 'ceiling is not the greater of wanted and use',
		concat_ws(' ', node, flavor, resource),
		format('ceiling %s, wanted %s, use %s', ceiling, wanted,
			pending + posted + releasing + members)
	FROM sluice.balance WHERE ceiling <> greatest(wanted, pending + posted + releasing + members)
	UNION ALL
	SELECT cell, 'use is over the ceiling', concat_ws(' ', node, flavor, resource),
		format('use %s, ceiling %s', use, ceiling)
	FROM sluice.balance_use WHERE use > ceiling
	UNION ALL
	SELECT h.cell, 'hold without its RESERVE, or closed and still open',
		format('%s attempt %s', h.job_uid, h.attempt), string_agg(t.kind, ' ')
	FROM sluice.hold h LEFT JOIN sluice.transfer t USING (cell, job_uid, attempt)
	GROUP BY h.cell, h.job_uid, h.attempt
	HAVING count(*) FILTER (WHERE t.kind = 'RESERVE') <> 1
		OR count(*) FILTER (WHERE t.kind IN ('RELEASE', 'VOID')) > 0
	UNION ALL
	SELECT h.cell, 'started_at is not the time of COMMIT',
		format('%s attempt %s', h.job_uid, h.attempt),
		format('started %s, COMMIT %s', h.started_at, t.at)
	FROM sluice.hold h LEFT JOIN sluice.transfer t ON t.cell = h.cell AND t.job_uid = h.job_uid
		AND t.attempt = h.attempt AND t.kind = 'COMMIT'
	WHERE h.started_at IS DISTINCT FROM t.at
	UNION ALL
	SELECT h.cell, 'segment has ended, and its hold is open',
		format('%s attempt %s', h.job_uid, h.attempt), h.state
	FROM sluice.hold h JOIN sluice.segment s USING (cell, job_uid, attempt)
	WHERE s.stopped_at IS NOT NULL;

CREATE OR REPLACE VIEW sluice.audit_history AS
	WITH moved AS (
		SELECT cell, node, flavor, resource, bucket, sum(amount) AS amount FROM (
			SELECT cell, node, flavor, resource, target AS bucket, amount FROM sluice.transfer_line
			UNION ALL
			SELECT cell, node, flavor, resource, source, -amount FROM sluice.transfer_line
		) AS entry WHERE bucket IS NOT NULL GROUP BY cell, node, flavor, resource, bucket
	), booked AS (
		SELECT cell, node, flavor, resource, 'pending' AS bucket, pending AS amount FROM sluice.balance
		UNION ALL SELECT cell, node, flavor, resource, 'posted', posted FROM sluice.balance
		UNION ALL SELECT cell, node, flavor, resource, 'releasing', releasing FROM sluice.balance
	), attempt AS (
		SELECT cell, job_uid, attempt, max(at) FILTER (WHERE kind = 'COMMIT') AS started_at,
			max(at) FILTER (WHERE kind IN ('RELEASE', 'VOID')) AS stopped_at
		FROM sluice.transfer GROUP BY cell, job_uid, attempt
	)
	SELECT cell, 'balance is not the sum of transfers' AS fault,
		concat_ws(' ', node, flavor, resource, bucket) AS subject,
		format('balance %s, transfers %s', b.amount, m.amount) AS detail
	FROM booked b FULL JOIN moved m USING (cell, node, flavor, resource, bucket)
	WHERE coalesce(b.amount, 0) <> coalesce(m.amount, 0)
	UNION ALL
	SELECT t.cell, 'RESERVE resolved twice, or never and without a hold',
		format('%s attempt %s', t.job_uid, t.attempt), string_agg(t.kind, ' ')
	FROM sluice.transfer t LEFT JOIN sluice.hold h USING (cell, job_uid, attempt)
	GROUP BY t.cell, t.job_uid, t.attempt, h.cell
	HAVING count(*) FILTER (WHERE t.kind = 'RESERVE') <> 1
		OR count(*) FILTER (WHERE t.kind IN ('RELEASE', 'VOID'))
			<> CASE WHEN h.cell IS NULL THEN 1 ELSE 0 END
	UNION ALL
	SELECT cell, 'stop without a reason, an actor or the work it lost',
		format('%s attempt %s', job_uid, attempt), kind
	FROM sluice.transfer
	WHERE kind IN ('STOP', 'RELEASE', 'VOID')
		AND (reason IS NULL OR actor IS NULL OR lost_ms IS NULL)
	UNION ALL
	SELECT s.cell, 'open segment without a hold',
		format('%s attempt %s', s.job_uid, s.attempt), s.started_at::text
	FROM sluice.segment s LEFT JOIN sluice.hold h USING (cell, job_uid, attempt)
	WHERE s.stopped_at IS NULL AND h.cell IS NULL
	UNION ALL
	SELECT cell, 'segment is not from COMMIT to RELEASE', format('%s attempt %s', job_uid, attempt),
		format('segment %s to %s, transfers %s to %s', s.started_at, s.stopped_at, a.started_at,
			a.stopped_at)
	FROM (SELECT * FROM attempt WHERE started_at IS NOT NULL AND stopped_at IS NOT NULL) AS a
		FULL JOIN (SELECT * FROM sluice.segment WHERE stopped_at IS NOT NULL) AS s
		USING (cell, job_uid, attempt)
	WHERE (a.started_at, a.stopped_at) IS DISTINCT FROM (s.started_at, s.stopped_at);
