-- The first thing an epoch does on a new connection. $1 cell, $2 session, $3 epoch.
-- A connection that was given up may still have a statement in it: the server runs what it has
-- read, whether or not anybody waits. From here on such a latecomer finds the fence closed; one
-- that is already past its fence holds the row FOR SHARE, and this waits for it.
UPDATE sluice.lease SET session = $2
WHERE cell = $1 AND epoch = $3 AND session >> 32 = $2 >> 32 AND session < $2
