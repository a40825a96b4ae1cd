-- The ledger, version 5: the session of the leader holds a lock for as long as it lives, so that a
-- standby need not wait until the lease of a leader that died has run out.

ALTER TABLE sluice.lease ADD COLUMN session_lock bigint;
COMMENT ON COLUMN sluice.lease.session_lock IS
	'the advisory lock that the session of the holder keeps while it lives, if equal to session: when it is free, the holder is gone and the lease may be taken. Else only expires_at counts: a pooler stands in between, or the connection is a new one';
