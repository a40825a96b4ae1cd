-- (version, somebody else leads, may this role migrate it). $1 cell, $2 identity. A schema is not changed
-- under a live leader of this cell: it may be a program of the version before.
SELECT coalesce(max(version), 0)::int4, EXISTS (SELECT FROM sluice.lease
	WHERE cell = $1 AND holder <> $2 AND expires_at > clock_timestamp()),
	has_schema_privilege('sluice', 'CREATE') AND NOT EXISTS (SELECT FROM pg_class
		WHERE relnamespace = 'sluice'::regnamespace AND relkind IN ('r', 'v')
			AND NOT pg_has_role(relowner, 'USAGE'))
FROM sluice.schema_version
