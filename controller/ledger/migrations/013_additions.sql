-- The ledger, addition 13: migrations that the programs before them stand.
--
-- A program refuses a version in sluice.schema_version that it does not know. So a migration that is
-- written there leaves no way back to the programs before it. One that only adds (a column that may be
-- NULL, a table, an index, a comment) is written here instead: who does not know it goes on beside it,
-- also as the leader. The two share one row of numbers, and are applied in that order.
--
-- Program 0.1.0 knows versions up to 12 and reads none of this.

CREATE TABLE sluice.schema_addition (
	number     integer PRIMARY KEY,
	name       text NOT NULL,
	applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	applied_by text NOT NULL
);
COMMENT ON TABLE sluice.schema_addition IS
	'Migrations that a program which does not know them stands. Numbered on from sluice.schema_version, and written as there.';
COMMENT ON COLUMN sluice.schema_addition.applied_by IS 'identity of the controller, as in sluice.lease.holder';
