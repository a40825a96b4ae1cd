-- The latest end of a run that was forgotten, or NULL; no row: nothing ever was. $1 cell.
SELECT forgotten_until FROM sluice.retention WHERE cell = $1
