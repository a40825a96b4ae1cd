-- The ledger, version 1.
--
-- Every name that is compared or sorted is COLLATE "C": bytes, the same on every machine.
-- In the keys of big tables job_uid comes first: it alone tells nearly everything apart, and a key
-- that began with cell would tempt the planner to read all of a cell.
-- There are no foreign keys and no triggers: one statement writes everything that belongs together
-- (sql/batch.sql), and sluice.audit tells when it did not.
--
-- Migrations run in one transaction each. What is changed later must leave what the program before
-- it reads and writes in place for one release: its leader goes on until its lease runs out.

CREATE TABLE sluice.schema_version (
	version    integer PRIMARY KEY,
	name       text NOT NULL,
	applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	applied_by text NOT NULL
);
COMMENT ON TABLE sluice.schema_version IS
	'Which migrations were applied. Inserting its number is the first thing a migration does: of two that start at once one waits, and then fails harmlessly.';
COMMENT ON COLUMN sluice.schema_version.applied_by IS 'identity of the controller, as in sluice.lease.holder';

-- ---------------------------------------------------------------------------------------------

CREATE TABLE sluice.lease (
	cell       text COLLATE "C" PRIMARY KEY,
	epoch      bigint NOT NULL CHECK (epoch > 0),
	session    bigint NOT NULL,
	holder     text NOT NULL,
	expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE sluice.lease IS
	'One leader per cell. Every statement that writes the ledger takes this row FOR SHARE and checks epoch and session, so a deposed leader, and a connection that was given up, write nothing.';
COMMENT ON COLUMN sluice.lease.cell IS 'names the Kubernetes cluster; several may share one database';
COMMENT ON COLUMN sluice.lease.epoch IS 'grows by one with each change of holder, never goes back';
COMMENT ON COLUMN sluice.lease.session IS
	'the connection of the holder that may write: high 32 bits drawn at random by its process, low 32 bits count its connections';
COMMENT ON COLUMN sluice.lease.holder IS 'identity of the controller that leads';
COMMENT ON COLUMN sluice.lease.expires_at IS 'by the clock of the database alone; unless renewed, anybody may take the lease after it';

-- ---------------------------------------------------------------------------------------------

CREATE TABLE sluice.balance (
	cell      text COLLATE "C" NOT NULL,
	node      text COLLATE "C" NOT NULL,
	flavor    text COLLATE "C" NOT NULL,
	resource  text COLLATE "C" NOT NULL,
	pending   bigint NOT NULL DEFAULT 0,
	posted    bigint NOT NULL DEFAULT 0,
	releasing bigint NOT NULL DEFAULT 0,
	wanted    bigint NOT NULL DEFAULT 0,
	ceiling   bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (cell, node, flavor, resource),
	CONSTRAINT balance_not_negative
		CHECK (pending >= 0 AND posted >= 0 AND releasing >= 0 AND wanted >= 0 AND ceiling >= 0),
	CONSTRAINT balance_within_ceiling CHECK (pending + posted + releasing <= ceiling)
) WITH (fillfactor = 50);
COMMENT ON TABLE sluice.balance IS
	'How much of a resource in a flavor is held at a node of the quota tree. Amounts are int64: milli-CPU for cpu, bytes for memory and storage, whole units for everything else (pods, devices).';
COMMENT ON COLUMN sluice.balance.cell IS 'names the Kubernetes cluster';
COMMENT ON COLUMN sluice.balance.node IS 'cq/NAME for a ClusterQueue, cohort/NAME for a Cohort';
COMMENT ON COLUMN sluice.balance.flavor IS 'name of the ResourceFlavor';
COMMENT ON COLUMN sluice.balance.resource IS 'cpu, memory, pods, nvidia.com/gpu, ...';
COMMENT ON COLUMN sluice.balance.pending IS 'reserved; the start is not yet confirmed';
COMMENT ON COLUMN sluice.balance.posted IS 'held by Jobs that run';
COMMENT ON COLUMN sluice.balance.releasing IS 'held by Jobs that stop; pods may be left';
COMMENT ON COLUMN sluice.balance.wanted IS 'the quota that admins want';
COMMENT ON COLUMN sluice.balance.ceiling IS
	'greatest(wanted, what is held): a quota lowered below use never fails, it only stops growth, and each release brings the ceiling down with it';

-- ---------------------------------------------------------------------------------------------

CREATE TABLE sluice.transfer (
	cell     text COLLATE "C" NOT NULL,
	job_uid  uuid NOT NULL,
	attempt  integer NOT NULL CHECK (attempt > 0),
	kind     text COLLATE "C" NOT NULL
		CHECK (kind IN ('RESERVE', 'COMMIT', 'STOP', 'SHRINK', 'RELEASE', 'VOID')),
	seq      integer NOT NULL,
	epoch    bigint NOT NULL,
	at       timestamptz NOT NULL,
	source   text COLLATE "C" CHECK (source IN ('pending', 'posted', 'releasing')),
	target   text COLLATE "C" CHECK (target IN ('pending', 'posted', 'releasing')),
	lines    jsonb NOT NULL,
	reason   text,
	actor    text,
	lost_ms  bigint,
	PRIMARY KEY (job_uid, attempt, kind, seq, cell)
);
COMMENT ON TABLE sluice.transfer IS
	'What was done, append-only; the key makes every operation take effect once. Double entry: each line was taken from source and put into target.';
COMMENT ON COLUMN sluice.transfer.cell IS 'names the Kubernetes cluster';
COMMENT ON COLUMN sluice.transfer.job_uid IS 'metadata.uid of the Job';
COMMENT ON COLUMN sluice.transfer.attempt IS 'which run of the Job, from 1';
COMMENT ON COLUMN sluice.transfer.seq IS 'SHRINK: pods left; else 0';
COMMENT ON COLUMN sluice.transfer.epoch IS 'of the lease it was written under';
COMMENT ON COLUMN sluice.transfer.at IS 'wall clock of the leader when it was decided';
COMMENT ON COLUMN sluice.transfer.source IS 'the column of sluice.balance that it was taken from; NULL: from what was free';
COMMENT ON COLUMN sluice.transfer.target IS 'the column of sluice.balance that it was put into; NULL: to what is free';
COMMENT ON COLUMN sluice.transfer.lines IS '[[node, flavor, resource, amount], ...]: what was moved; sluice.transfer_line has a row for each';
COMMENT ON COLUMN sluice.transfer.reason IS 'STOP, RELEASE, VOID: why';
COMMENT ON COLUMN sluice.transfer.actor IS 'STOP, RELEASE, VOID: who, a controller or "user"';
COMMENT ON COLUMN sluice.transfer.lost_ms IS 'STOP, RELEASE, VOID: pod-milliseconds of work thrown away';

CREATE VIEW sluice.transfer_line AS
	SELECT t.cell, t.job_uid, t.attempt, t.kind, t.seq, t.source, t.target,
		(l ->> 0) COLLATE "C" AS node, (l ->> 1) COLLATE "C" AS flavor,
		(l ->> 2) COLLATE "C" AS resource, (l ->> 3)::bigint AS amount
	FROM sluice.transfer t, jsonb_array_elements(t.lines) AS l;
COMMENT ON VIEW sluice.transfer_line IS 'sluice.transfer.lines, one row each';

-- ---------------------------------------------------------------------------------------------

CREATE TABLE sluice.hold (
	cell         text COLLATE "C" NOT NULL,
	job_uid      uuid NOT NULL,
	attempt      integer NOT NULL,
	state        text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'posted', 'releasing')),
	ns           text NOT NULL,
	name         text NOT NULL,
	clusterqueue text NOT NULL,
	reserved_at  timestamptz NOT NULL,
	started_at   timestamptz,
	lines        jsonb NOT NULL,
	PRIMARY KEY (job_uid, attempt, cell)
) WITH (fillfactor = 70);
COMMENT ON TABLE sluice.hold IS
	'The open holds: quota that an attempt of a Job has now. A row comes with RESERVE and goes with RELEASE or VOID. What a new leader reads first.';
COMMENT ON COLUMN sluice.hold.cell IS 'names the Kubernetes cluster';
COMMENT ON COLUMN sluice.hold.state IS 'the column of sluice.balance that its lines are in';
COMMENT ON COLUMN sluice.hold.reserved_at IS 'when RESERVE was decided';
COMMENT ON COLUMN sluice.hold.started_at IS 'when COMMIT was decided; NULL before it';
COMMENT ON COLUMN sluice.hold.lines IS '[[node, flavor, resource, amount], ...]: what it holds; sluice.hold_line has a row for each';

CREATE VIEW sluice.hold_line AS
	SELECT h.cell, h.job_uid, h.attempt, h.state,
		(l ->> 0) COLLATE "C" AS node, (l ->> 1) COLLATE "C" AS flavor,
		(l ->> 2) COLLATE "C" AS resource, (l ->> 3)::bigint AS amount
	FROM sluice.hold h, jsonb_array_elements(h.lines) AS l;
COMMENT ON VIEW sluice.hold_line IS 'sluice.hold.lines, one row each';

-- ---------------------------------------------------------------------------------------------

CREATE TABLE sluice.segment (
	cell         text COLLATE "C" NOT NULL,
	job_uid      uuid NOT NULL,
	attempt      integer NOT NULL,
	ns           text NOT NULL,
	name         text NOT NULL,
	clusterqueue text NOT NULL,
	started_at   timestamptz NOT NULL,
	stopping_at  timestamptz,
	stopped_at   timestamptz,
	reason       text,
	actor        text,
	lost_ms      bigint,
	lines        jsonb NOT NULL,
	price        jsonb,
	cost_micro   bigint,
	PRIMARY KEY (job_uid, attempt, cell)
) WITH (fillfactor = 80);
COMMENT ON TABLE sluice.segment IS
	'One row per attempt that ran: the bill, the fair share over time, and the history that estimates durations.';
COMMENT ON COLUMN sluice.segment.cell IS 'names the Kubernetes cluster';
COMMENT ON COLUMN sluice.segment.started_at IS 'when the start was seen (COMMIT)';
COMMENT ON COLUMN sluice.segment.stopping_at IS 'when it was told to stop or was seen to have ended (STOP); NULL: it never was';
COMMENT ON COLUMN sluice.segment.stopped_at IS 'when no pod was left (RELEASE); NULL: it has not ended';
COMMENT ON COLUMN sluice.segment.reason IS 'why it stopped, as said first (STOP, else RELEASE)';
COMMENT ON COLUMN sluice.segment.actor IS 'who stopped it: a controller, or "user"';
COMMENT ON COLUMN sluice.segment.lost_ms IS 'pod-milliseconds of work thrown away: the most that was said';
COMMENT ON COLUMN sluice.segment.lines IS
	'[[node, flavor, resource, amount], ...]: what it held when it started; later SHRINKs are in sluice.transfer';
COMMENT ON COLUMN sluice.segment.price IS 'what an hour cost, as it was applied; NULL without a PricePlan';
COMMENT ON COLUMN sluice.segment.cost_micro IS 'micro-units of the currency; NULL until it is settled';

-- ---------------------------------------------------------------------------------------------

-- Cheap: reads what is open, not the history. For a metric.
CREATE VIEW sluice.audit AS
	WITH held AS (
		SELECT cell, node, flavor, resource,
			coalesce(sum(amount) FILTER (WHERE state = 'pending'), 0) AS pending,
			coalesce(sum(amount) FILTER (WHERE state = 'posted'), 0) AS posted,
			coalesce(sum(amount) FILTER (WHERE state = 'releasing'), 0) AS releasing
		FROM sluice.hold_line GROUP BY cell, node, flavor, resource
	)
	SELECT cell, 'balance is not what is held' AS fault,
		concat_ws(' ', node, flavor, resource) AS subject,
		format('balance %s/%s/%s, holds %s/%s/%s', b.pending, b.posted, b.releasing,
			h.pending, h.posted, h.releasing) AS detail
	FROM sluice.balance b FULL JOIN held h USING (cell, node, flavor, resource)
	WHERE (coalesce(b.pending, 0), coalesce(b.posted, 0), coalesce(b.releasing, 0))
		<> (coalesce(h.pending, 0), coalesce(h.posted, 0), coalesce(h.releasing, 0))
	UNION ALL
	SELECT cell, 'ceiling is not the greater of wanted and use',
		concat_ws(' ', node, flavor, resource),
		format('ceiling %s, wanted %s, use %s', ceiling, wanted, pending + posted + releasing)
	FROM sluice.balance WHERE ceiling <> greatest(wanted, pending + posted + releasing)
	UNION ALL
	SELECT h.cell, 'hold without its RESERVE, or closed and still open',
		format('%s attempt %s', h.job_uid, h.attempt), string_agg(t.kind, ' ')
	FROM sluice.hold h LEFT JOIN sluice.transfer t USING (cell, job_uid, attempt)
	GROUP BY h.cell, h.job_uid, h.attempt
	HAVING count(*) FILTER (WHERE t.kind = 'RESERVE') <> 1
		OR count(*) FILTER (WHERE t.kind IN ('RELEASE', 'VOID')) > 0
	UNION ALL
	SELECT h.cell, 'started without an open segment',
		format('%s attempt %s', h.job_uid, h.attempt), h.state
	FROM sluice.hold h LEFT JOIN sluice.segment s USING (cell, job_uid, attempt)
	WHERE h.started_at IS NOT NULL AND (s.cell IS NULL OR s.stopped_at IS NOT NULL);
COMMENT ON VIEW sluice.audit IS
	'What is wrong with the ledger, by its own books: no rows when nothing is. Reads what is open, not the history.';

-- Dear: reads everything that was ever done. For tests and for doubt.
CREATE VIEW sluice.audit_history AS
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
	WHERE s.stopped_at IS NULL AND h.cell IS NULL;
COMMENT ON VIEW sluice.audit_history IS
	'What is wrong between the balances and everything that was ever done: no rows when nothing is. Reads the whole history.';
