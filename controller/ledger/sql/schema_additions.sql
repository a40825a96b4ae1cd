-- The highest number of an addition, where there is the table of them.
SELECT coalesce(max(number), 0)::int4 FROM sluice.schema_addition
