-- Renews an epoch: a row if it is still ours, even if it had run out (nobody took it).
-- $1 cell, $2 session, $3 identity, $4 milliseconds, $5 epoch. Also attaches, see attach.sql.
UPDATE sluice.lease
SET session = $2, expires_at = clock_timestamp() + $4 * interval '1 millisecond'
WHERE cell = $1 AND epoch = $5 AND holder = $3 AND session >> 32 = $2 >> 32 AND session <= $2
RETURNING 1
