-- For outcomes.sql, until the end of the transaction. A bitmap would read all runs of a name to find the
-- last ones, and compiling takes longer than asking.
SELECT set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)
