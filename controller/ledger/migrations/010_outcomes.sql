-- The ledger, version 10: what became of a Job can be looked up by its name, also when the Job is gone.
-- Jobs that wait for it (sluice.dev/after) are judged by that.
--
-- A program of version 9 may go on for a while as a leader: what it reads and writes is in place. Of what
-- it writes the two new columns are NULL; then the reason of the segment tells, and the creation of the Job
-- is not known.
--
-- While the index is made nothing can be written to sluice.segment, so no run that ends is released:
-- docs/operations.md says how long that takes.

ALTER TABLE sluice.hold ADD created_at timestamptz;
COMMENT ON COLUMN sluice.hold.created_at IS
	'metadata.creationTimestamp of the Job; NULL: written by version 9';

ALTER TABLE sluice.segment
	ADD created_at  timestamptz,
	ADD job_outcome text COLLATE "C" CHECK (job_outcome IN ('Succeeded', 'Failed', 'Deleted'));
COMMENT ON COLUMN sluice.segment.created_at IS
	'metadata.creationTimestamp of the Job; NULL: written by version 9';
COMMENT ON COLUMN sluice.segment.job_outcome IS
	'what became of the Job, if it had ended when no pod was left: Succeeded, Failed, Deleted; NULL: it had not, or nobody saw it, or version 9 wrote this';

-- By hash: a quarter of the size of an index with the names themselves.
CREATE INDEX segment_by_name ON sluice.segment (hashtextextended(ns || '/' || name, 0), stopped_at);
COMMENT ON INDEX sluice.segment_by_name IS 'the runs of the Jobs of a name, the last first';
