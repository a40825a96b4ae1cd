-- The lease as it is after that (a statement of its own, for a new look). $1 cell.
SELECT epoch, holder FROM sluice.lease WHERE cell = $1
