-- The lease as it is after that (a statement of its own, for a new look), which version of its row that
-- is, and the version of the schema; no row if no controller has ever led this cell. $1 cell.
SELECT epoch, holder, xmin::text, (SELECT max(version) FROM sluice.schema_version)::int4
FROM sluice.lease WHERE cell = $1
