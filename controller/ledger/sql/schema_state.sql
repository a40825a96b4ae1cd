-- What is there of the schema: (schema, schema_version, schema_addition)
SELECT to_regnamespace('sluice') IS NOT NULL, to_regclass('sluice.schema_version') IS NOT NULL,
	to_regclass('sluice.schema_addition') IS NOT NULL
