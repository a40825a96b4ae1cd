-- What is added to rows that exist, and what is wanted where it was set (else NULL). Where more is
-- held than before, the CHECK decides once more, should a hand have edited the row since it was
-- read; elsewhere the ceiling follows what is held.
-- Rows need no order of locking: those of a cell are only written by who has its fence.
-- OFFSET 0 hides from the planner that cell is the same in all rows: it must not read all rows of a
-- cell and then look among them.
UPDATE sluice.balance b
SET pending = b.pending + n.pending, posted = b.posted + n.posted,
	releasing = b.releasing + n.releasing, wanted = coalesce(n.wanted, b.wanted),
	ceiling = CASE WHEN n.pending + n.posted + n.releasing > 0 AND n.wanted IS NULL
		THEN b.wanted
		ELSE greatest(coalesce(n.wanted, b.wanted), b.pending + n.pending
			+ b.posted + n.posted + b.releasing + n.releasing) END
FROM (SELECT $1 AS cell, n.* FROM unnest($4::text[], $5::text[], $6::text[], $7::int8[], $8::int8[],
		$9::int8[], $10::int8[])
	AS n (node, flavor, resource, pending, posted, releasing, wanted) OFFSET 0) AS n
WHERE b.cell = n.cell AND b.node = n.node AND b.flavor = n.flavor AND b.resource = n.resource
	AND EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
