-- The ledger, version 9: a lease is good on the server on which it was taken, and on no other.
--
-- A program of version 8 may go on for a while as a leader: it does not heed this.

ALTER TABLE sluice.lease ADD COLUMN taken_on text;
UPDATE sluice.lease SET taken_on = left(pg_walfile_name(pg_current_wal_lsn()), 8);
COMMENT ON COLUMN sluice.lease.taken_on IS
	'timeline of the server when the lease was taken; NULL: a program of version 8 made the row. On another one it is over: Postgres failed over, and what it lacks may be a later takeover';
