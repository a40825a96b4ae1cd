-- The lease that stood still for longer than it lasts has run out, whatever expires_at says: the
-- database's clock was set back since. $1 cell, $2 the version of the row that stood still.
UPDATE sluice.lease SET expires_at = '-infinity' WHERE cell = $1 AND xmin::text = $2
