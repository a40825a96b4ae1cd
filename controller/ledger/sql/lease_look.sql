-- The lease as it is after that (a statement of its own, for a new look), and which version of its
-- row that is. $1 cell.
SELECT epoch, holder, xmin::text FROM sluice.lease WHERE cell = $1
