-- First in a transaction of many rows at once, in place of settings.sql: how they are joined is the
-- planner's to say. $1: milliseconds that one statement may take.
SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $1, true)
