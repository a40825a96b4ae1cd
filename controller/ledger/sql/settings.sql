-- First in every transaction, and gone with it, so that nothing is left on a connection that
-- a pooler lends to somebody else. $1: milliseconds that one statement may take.
-- A commit must be on disk when we hear of it: what holds quota may be started the moment after.
-- Compiling (jit) a statement of ours takes longer than any of them runs.
SELECT set_config('jit', 'off', true), set_config('statement_timeout', $1, true),
	set_config('lock_timeout', $1, true), set_config('synchronous_commit', CASE current_setting('synchronous_commit')
		WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)
