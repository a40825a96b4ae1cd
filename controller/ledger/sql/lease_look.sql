-- The lease as it is after that (a statement of its own, for a new look), which version of its row that
-- is, the version of the schema, and in how many milliseconds it ends (below 0: it has; 0: it was given
-- back); no row if no controller has ever led this cell. $1 cell.
SELECT epoch, holder, xmin::text, (SELECT max(version) FROM sluice.schema_version)::int4,
	CASE WHEN isfinite(expires_at)
		THEN (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::int8 ELSE 0 END
FROM sluice.lease WHERE cell = $1
