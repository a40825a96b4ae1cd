-- The first thing an epoch does on a new connection. $1 cell, $2 session, $3 epoch, $4 the last batch
-- that we were told of.
-- A connection that was given up may still have a statement in it: the server runs what it has
-- read, whether or not anybody waits. From here on such a latecomer finds the fence closed; one
-- that is already past its fence holds the row, and this waits for it. Where that batch is not in
-- the ledger any more, or the server is not the one on which the lease was taken, it is not the ledger
-- that we wrote, or a later takeover may be missing in it: the fence stays closed to us.
UPDATE sluice.lease SET session = $2
WHERE cell = $1 AND epoch = $3 AND session >> 32 = $2 >> 32 AND session < $2 AND batch >= $4
	AND taken_on = left(pg_walfile_name(pg_current_wal_lsn()), 8)
