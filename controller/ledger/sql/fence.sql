-- The first statement of a transaction that writes: no row, and nothing after it writes anything.
-- Every statement checks by itself; this one also holds the row, so that a takeover (lease_take.sql)
-- and a later connection of our own (attach.sql) wait until we are done. $1 cell, $2 session,
-- $3 epoch, here and in all write_*.sql.
-- What was read before (batch_*.sql) is still so if the fence is open: whoever could have changed
-- it would have another epoch or session.
SELECT 1 FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2 FOR SHARE
