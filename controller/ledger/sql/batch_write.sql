-- What a batch does, all of it in one fenced statement. Answers a row if the fence is open, none if
-- it is closed: then nothing was written.
--   $1 cell, $2 session, $3 epoch
--   $4..$14  transfers
--   $15..$21 balance rows that exist: what is added, and wanted where it was set
--   $22..$28 balance rows that do not
--   $29..$37 holds, new or changed
--   $38..$39 holds, closed
--   $40..$51 segments, new or changed
-- What was read before (batch_holds.sql ff.) is still so if the fence is open: whoever could have
-- changed it would have another epoch or session. For hands that edit the ledger there is a second
-- line: the key of sluice.transfer, and the CHECK, which holds wherever more is held than before
-- (elsewhere the ceiling follows what is held).
WITH fence AS MATERIALIZED (
	SELECT 1 AS open FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2 FOR SHARE
), transfers AS (
	INSERT INTO sluice.transfer (cell, epoch, job_uid, attempt, kind, seq, at, source, target,
		lines, reason, actor, lost_ms)
	SELECT $1, $3, t.* FROM fence, unnest($4::uuid[], $5::int4[], $6::text[], $7::int4[],
		$8::timestamptz[], $9::text[], $10::text[], $11::jsonb[], $12::text[], $13::text[],
		$14::int8[]) AS t
), balances AS (
	UPDATE sluice.balance b
	SET pending = b.pending + n.pending, posted = b.posted + n.posted,
		releasing = b.releasing + n.releasing, wanted = coalesce(n.wanted, b.wanted),
		ceiling = CASE WHEN n.pending + n.posted + n.releasing > 0 AND n.wanted IS NULL
			THEN b.wanted
			ELSE greatest(coalesce(n.wanted, b.wanted), b.pending + n.pending
				+ b.posted + n.posted + b.releasing + n.releasing) END
	FROM fence, unnest($15::text[], $16::text[], $17::text[], $18::int8[], $19::int8[], $20::int8[],
		$21::int8[]) AS n (node, flavor, resource, pending, posted, releasing, wanted)
	WHERE b.cell = $1 AND b.node = n.node AND b.flavor = n.flavor AND b.resource = n.resource
), new_balances AS (
	INSERT INTO sluice.balance (cell, node, flavor, resource, pending, posted, releasing, wanted, ceiling)
	SELECT $1, n.*, greatest(n.wanted, n.pending + n.posted + n.releasing)
	FROM fence, unnest($22::text[], $23::text[], $24::text[], $25::int8[], $26::int8[], $27::int8[],
		$28::int8[]) AS n (node, flavor, resource, pending, posted, releasing, wanted)
), holds AS (
	INSERT INTO sluice.hold AS h (cell, job_uid, attempt, state, ns, name, clusterqueue, reserved_at,
		started_at, lines)
	SELECT $1, n.* FROM fence, unnest($29::uuid[], $30::int4[], $31::text[], $32::text[], $33::text[],
		$34::text[], $35::timestamptz[], $36::timestamptz[], $37::jsonb[]) AS n
	ON CONFLICT (cell, job_uid, attempt) DO UPDATE
	SET state = excluded.state, started_at = excluded.started_at, lines = excluded.lines
), closed AS (
	DELETE FROM sluice.hold h
	USING fence, unnest($38::uuid[], $39::int4[]) AS n (job_uid, attempt)
	WHERE h.cell = $1 AND h.job_uid = n.job_uid AND h.attempt = n.attempt
), segments AS (
	INSERT INTO sluice.segment AS s (cell, job_uid, attempt, ns, name, clusterqueue, started_at,
		stopping_at, stopped_at, reason, actor, lost_ms, lines)
	SELECT $1, n.* FROM fence, unnest($40::uuid[], $41::int4[], $42::text[], $43::text[],
		$44::text[], $45::timestamptz[], $46::timestamptz[], $47::timestamptz[], $48::text[],
		$49::text[], $50::int8[], $51::jsonb[]) AS n
	ON CONFLICT (cell, job_uid, attempt) DO UPDATE
	SET stopping_at = coalesce(s.stopping_at, excluded.stopping_at), stopped_at = excluded.stopped_at,
		reason = coalesce(s.reason, excluded.reason), actor = coalesce(s.actor, excluded.actor),
		lost_ms = greatest(s.lost_ms, excluded.lost_ms)
)
SELECT open FROM fence
