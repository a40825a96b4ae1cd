-- Locks a session's number until its connection closes: a row if it could. $1 session, $2 the process
-- id that the server named when we connected. Behind a pooler that is another one, and a lock would
-- be left on a connection that others use: there it is not taken. A standby that is lent the same
-- connection would be granted the lock once more, and take over from a leader that lives.
SELECT pg_try_advisory_lock($1) WHERE pg_backend_pid() = $2
