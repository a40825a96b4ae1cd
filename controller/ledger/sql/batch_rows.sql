-- The balance rows that a batch grows or caps: (number from 1, held, wanted). $1 cell; $2..$4 node,
-- flavor, resource of each.
SELECT r.i::int4, b.pending + b.posted + b.releasing, b.wanted
FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS r (node, flavor, resource, i),
	LATERAL (SELECT * FROM sluice.balance b WHERE b.cell = $1 AND b.node = r.node
		AND b.flavor = r.flavor AND b.resource = r.resource LIMIT 1) AS b
