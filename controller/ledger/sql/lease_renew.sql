-- Renews an epoch: a row if it is still ours, even if it had run out (nobody took it).
-- $1 cell, $2 session, $3 identity, $4 milliseconds, $5 do we hold the lock of our session? $6 epoch,
-- $7 the last batch that we were told of, $8 may Jobs start? Also attaches, see attach.sql.
-- While none may, no server's timeline is written: a leader that dies before all that the ledger had
-- lost is settled leaves the rest to the next one.
UPDATE sluice.lease
SET session = $2, session_lock = CASE WHEN $5::boolean THEN $2 END,
	expires_at = clock_timestamp() + $4 * interval '1 millisecond',
	timeline = CASE WHEN $8::boolean THEN taken_on ELSE '' END
WHERE cell = $1 AND epoch = $6 AND holder = $3 AND session >> 32 = $2 >> 32 AND session <= $2
	AND batch >= $7 AND taken_on = left(pg_walfile_name(pg_current_wal_lsn()), 8)
RETURNING batch, false
