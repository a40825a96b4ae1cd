-- Takes the lease if it is free: never held, run out, or ours by an earlier word of this very
-- process (whose answer was lost). $1 cell, $2 session, $3 identity, $4 milliseconds.
-- Only the database's clock counts. The row is locked until what the last holder had under way is
-- over, since that holds it FOR SHARE.
WITH taken AS (
	UPDATE sluice.lease
	SET epoch = epoch + 1, session = $2, holder = $3,
		expires_at = clock_timestamp() + $4 * interval '1 millisecond'
	WHERE cell = $1 AND (expires_at < clock_timestamp() OR holder = $3 AND session >> 32 = $2 >> 32)
	RETURNING 1
), made AS (
	INSERT INTO sluice.lease (cell, epoch, session, holder, expires_at)
	SELECT $1, 1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond'
	WHERE NOT EXISTS (SELECT FROM sluice.lease WHERE cell = $1)
	ON CONFLICT (cell) DO NOTHING
	RETURNING 1
)
SELECT 1 FROM taken UNION ALL SELECT 1 FROM made
