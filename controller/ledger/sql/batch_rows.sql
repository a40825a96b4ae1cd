-- The balance rows that a batch may touch: those of the names given, of the lines of the holds that
-- are named, and all above them. $1 cell; $2..$4 node, flavor, resource of each name; $5, $6 uid and
-- attempt of each hold. A row that is not there is not answered.
-- UNION, not UNION ALL: a row that was found once is not followed again, so that parents that go
-- round in a circle end too.
WITH RECURSIVE named AS (
	SELECT node, flavor, resource FROM unnest($2::text[], $3::text[], $4::text[])
		AS r (node, flavor, resource)
	UNION
	SELECT l ->> 0, l ->> 1, l ->> 2
	FROM (SELECT jsonb_array_elements(h.lines) AS l
		FROM unnest($5::uuid[], $6::int4[]) AS o (job_uid, attempt),
			LATERAL (SELECT h.lines FROM sluice.hold h WHERE h.cell = $1
				AND h.job_uid = o.job_uid AND h.attempt = o.attempt LIMIT 1) AS h) AS h
), path AS (
	SELECT b.* FROM named n,
		LATERAL (SELECT * FROM sluice.balance b WHERE b.cell = $1 AND b.node = n.node
			AND b.flavor = n.flavor AND b.resource = n.resource LIMIT 1) AS b
	UNION
	SELECT b.* FROM path p,
		LATERAL (SELECT * FROM sluice.balance b WHERE b.cell = $1 AND b.node = p.parent
			AND b.flavor = p.flavor AND b.resource = p.resource LIMIT 1) AS b
)
SELECT node, flavor, resource, pending, posted, releasing, members, wanted, parent, guaranteed
FROM path
