-- First in every transaction, and gone with it, so that nothing is left on a connection that a
-- pooler lends to somebody else. $1: milliseconds that one statement may take.
-- A commit must be on disk when we hear of it: what holds quota may be started the moment after.
-- A plan is made once for each connection, perhaps while the tables are empty, and must be good when
-- they are not: look things up by their keys, one by one. Compiling (jit) a statement of ours takes
-- longer than any of them runs.
SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $1, true),
	set_config('synchronous_commit', CASE current_setting('synchronous_commit')
		WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true),
	set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true),
	set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
	set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)
