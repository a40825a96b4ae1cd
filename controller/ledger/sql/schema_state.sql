-- What is there of the schema: (schema, schema_version)
SELECT to_regnamespace('sluice') IS NOT NULL, to_regclass('sluice.schema_version') IS NOT NULL
