-- Takes the lease if it is free: never held, run out, given back, ours by an earlier word of this very
-- process (whose answer was lost), taken on another server's timeline, or its holder's session is gone
-- (nothing holds session_lock).
-- $1 cell, $2 session, $3 identity, $4 milliseconds, $5 do we hold the lock of our own session?
-- $6 the highest epoch that any Job tells of: a ledger that went back must not give it out again. It
-- is heeded within reason, since it may be a tenant's word.
-- $7 the highest version of the schema that we know: one that a newer program has brought since we looked
-- is not ours to write.
-- Answers the number of the last batch, and whether the server's timeline is another one than the
-- last settled leader's. That stays as it was: lease_renew.sql writes it when this takeover is settled.
-- The lease is good on this server's timeline alone (attach.sql, fence.sql).
-- Only the database's clock counts. The row is locked until what the last holder had under way is
-- over, since that holds it.
WITH was AS (
	SELECT timeline, left(pg_walfile_name(pg_current_wal_lsn()), 8) AS now
	FROM (SELECT) AS one LEFT JOIN sluice.lease ON cell = $1
), taken AS (
	UPDATE sluice.lease
	SET epoch = greatest(epoch, least($6, epoch + 1000)) + 1, session = $2, holder = $3,
		session_lock = CASE WHEN $5::boolean THEN $2 END,
		expires_at = clock_timestamp() + $4 * interval '1 millisecond',
		timeline = coalesce(timeline, (SELECT now FROM was)), taken_on = (SELECT now FROM was)
	WHERE cell = $1 AND (expires_at < clock_timestamp() OR holder = $3 AND session >> 32 = $2 >> 32
		OR taken_on <> (SELECT now FROM was)
		OR CASE WHEN session_lock = session THEN pg_try_advisory_xact_lock(session_lock) END)
		AND NOT EXISTS (SELECT FROM sluice.schema_version WHERE version > $7)
	RETURNING batch
), made AS (
	INSERT INTO sluice.lease (cell, epoch, session, holder, session_lock, expires_at, timeline,
		taken_on)
	SELECT $1, greatest(0, least($6, 1000)) + 1, $2, $3, CASE WHEN $5::boolean THEN $2 END,
		clock_timestamp() + $4 * interval '1 millisecond', now, now
	FROM was
	WHERE NOT EXISTS (SELECT FROM sluice.lease WHERE cell = $1)
		AND NOT EXISTS (SELECT FROM sluice.schema_version WHERE version > $7)
	ON CONFLICT (cell) DO NOTHING
	RETURNING batch
)
SELECT batch, coalesce((SELECT timeline <> now FROM was), false)
FROM (SELECT batch FROM taken UNION ALL SELECT batch FROM made) AS t
