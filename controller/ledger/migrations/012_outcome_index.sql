-- The ledger, version 12: the runs of the Jobs of a name are found at once (version 10 says what for).
--
-- While the index is made sluice.segment can be read, and not written. So no run that ends is released
-- until it is done: docs/upgrade.md says how long that takes.

-- By hash: a quarter of the size of an index with the names themselves.
CREATE INDEX segment_by_name ON sluice.segment (hashtextextended(ns || '/' || name, 0), stopped_at);
COMMENT ON INDEX sluice.segment_by_name IS 'the runs of the Jobs of a name, the last first';
