-- Rows that exist, as they are from now on. $4..$6 node, flavor, resource; $7..$10 pending, posted,
-- releasing and members as they were taken to be, $11..$14 as they become; $15 the use that the
-- ceiling follows, NULL where the row only grew; $16..$18 wanted, parent and guaranteed, NULL where
-- they stay.
-- What was taken to be so is proved here: a row that is otherwise (a hand has edited it) becomes
-- negative, and the CHECK that forbids it undoes the whole batch, which is then judged anew by what
-- is read. Where a row grew, the CHECK of the ceiling decides once more.
-- Rows need no order of locking: those of a cell are only written by who has its fence.
-- OFFSET 0 hides from the planner that cell is the same in all rows: it must not read all rows of a
-- cell and then look among them.
UPDATE sluice.balance b
SET pending = CASE WHEN b.pending = n.pending0 AND b.posted = n.posted0
		AND b.releasing = n.releasing0 AND b.members = n.members0 THEN n.pending ELSE -1 END,
	posted = n.posted, releasing = n.releasing, members = n.members,
	ceiling = greatest(coalesce(n.wanted, b.wanted), n.use), wanted = coalesce(n.wanted, b.wanted),
	parent = coalesce(n.parent, b.parent), guaranteed = coalesce(n.guaranteed, b.guaranteed)
FROM (SELECT $1 AS cell, n.* FROM unnest($4::text[], $5::text[], $6::text[], $7::int8[], $8::int8[],
		$9::int8[], $10::int8[], $11::int8[], $12::int8[], $13::int8[], $14::int8[], $15::int8[],
		$16::int8[], $17::text[], $18::int8[])
	AS n (node, flavor, resource, pending0, posted0, releasing0, members0, pending, posted,
		releasing, members, use, wanted, parent, guaranteed) OFFSET 0) AS n
WHERE b.cell = n.cell AND b.node = n.node AND b.flavor = n.flavor AND b.resource = n.resource
	AND EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
