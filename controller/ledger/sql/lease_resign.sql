-- $1 cell, $2 session, $3 epoch
UPDATE sluice.lease SET expires_at = '-infinity'
WHERE cell = $1 AND epoch = $3 AND session >> 32 = $2 >> 32 AND session <= $2
