-- Takes off what was used of nodes before $3 (milliseconds since 1970). $1 cell, $2 epoch.
DELETE FROM sluice.node_history
WHERE cell = $1 AND hour < timestamptz 'epoch' + $3 * interval '1 millisecond'
	AND EXISTS (SELECT 1 FROM sluice.lease WHERE cell = $1 AND epoch = $2)
