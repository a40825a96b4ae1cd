-- The first statement of a transaction that writes: no row, and nothing after it writes anything;
-- else the number of the batch. Every statement checks by itself; this one also holds the row, so
-- that a takeover (lease_take.sql) and a later connection of our own (attach.sql) wait until we are
-- done. $1 cell, $2 session, $3 epoch, here and in all write_*.sql; $4 the last batch that we were told
-- of.
-- What was read before (batch_*.sql) is still so if the fence is open: whoever could have changed
-- it would have another epoch or session.
-- A pooler may have put another server under a connection that lives on. So what attach.sql asks for is
-- asked for here as well; where it is not so, the fence is closed for good, by a session that is none.
WITH fence AS (
	UPDATE sluice.lease
	SET batch = batch + 1, session = CASE WHEN batch >= $4
		AND taken_on = left(pg_walfile_name(pg_current_wal_lsn()), 8) THEN session ELSE 0 END
	WHERE cell = $1 AND epoch = $3 AND session = $2
	RETURNING batch, session
)
SELECT batch FROM fence WHERE session = $2
