-- $4..$6 node, flavor, resource; $7..$10 pending, posted, releasing, members; $11 use; $12..$14
-- wanted, parent, guaranteed.
INSERT INTO sluice.balance (cell, node, flavor, resource, pending, posted, releasing, members, wanted,
	parent, guaranteed, ceiling)
SELECT $1, node, flavor, resource, pending, posted, releasing, members, wanted, parent, guaranteed,
	greatest(wanted, use)
FROM unnest($4::text[], $5::text[], $6::text[], $7::int8[], $8::int8[], $9::int8[], $10::int8[],
		$11::int8[], $12::int8[], $13::text[], $14::int8[])
	AS n (node, flavor, resource, pending, posted, releasing, members, use, wanted, parent, guaranteed)
WHERE EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND epoch = $3 AND session = $2)
