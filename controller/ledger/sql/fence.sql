-- The first statement of a transaction that writes: no row, and nothing after it writes anything;
-- else the number of the batch. Every statement checks by itself; this one also holds the row, so
-- that a takeover (lease_take.sql) and a later connection of our own (attach.sql) wait until we are
-- done. $1 cell, $2 session, $3 epoch, here and in all write_*.sql.
-- What was read before (batch_*.sql) is still so if the fence is open: whoever could have changed
-- it would have another epoch or session.
UPDATE sluice.lease SET batch = batch + 1 WHERE cell = $1 AND epoch = $3 AND session = $2
RETURNING batch
