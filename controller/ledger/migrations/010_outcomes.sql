-- The ledger, version 10: what became of a Job can be looked up by its name, also when the Job is gone.
-- Jobs that wait for it (sluice.dev/after) are judged by that.
--
-- A program of version 9 may go on for a while as a leader: what it reads and writes is in place. Of what
-- it writes the two new columns are NULL; then the reason of the segment tells, and the creation of the Job
-- is not known.
--
-- Nobody can read or write the two tables meanwhile. So this is short: new columns without a default, and
-- a check that is not compared with the rows that are there, of which all are NULL. The index that is
-- looked up takes longer, and leaves readers alone: it is made in version 12.

ALTER TABLE sluice.hold ADD created_at timestamptz;
COMMENT ON COLUMN sluice.hold.created_at IS
	'metadata.creationTimestamp of the Job; NULL: written by version 9';

ALTER TABLE sluice.segment
	ADD created_at  timestamptz,
	ADD job_outcome text COLLATE "C",
	ADD CONSTRAINT segment_job_outcome_check
		CHECK (job_outcome IN ('Succeeded', 'Failed', 'Deleted')) NOT VALID;
COMMENT ON COLUMN sluice.segment.created_at IS
	'metadata.creationTimestamp of the Job; NULL: written by version 9';
COMMENT ON COLUMN sluice.segment.job_outcome IS
	'what became of the Job, if it had ended when no pod was left: Succeeded, Failed, Deleted; NULL: it had not, or nobody saw it, or version 9 wrote this';
