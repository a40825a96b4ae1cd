-- What was used of nodes: $3 node, $4 beginning of the hour, $5 minute of it (0 to 59), $6 thousandths
-- of a core, $7 bytes, side by side. Of several in a minute the largest counts. $1 cell, $2 epoch: of
-- another epoch nothing is written. The lease is not held for it: what a deposed leader measured a
-- moment ago is as true as what its successor measures.
WITH fence AS MATERIALIZED (
	SELECT 1 FROM sluice.lease WHERE cell = $1 AND epoch = $2
), sample AS (
	SELECT node, hour, minute, max(cpu) AS cpu, max(memory) AS memory
	FROM unnest($3, $4, $5, $6, $7) AS s (node, hour, minute, cpu, memory)
	GROUP BY node, hour, minute
), sheet AS (
	SELECT k.node, k.hour, array_agg(s.cpu ORDER BY i) AS cpu, array_agg(s.memory ORDER BY i) AS memory
	FROM (SELECT DISTINCT node, hour FROM sample) AS k
	CROSS JOIN generate_series(0, 59) AS i
	LEFT JOIN sample AS s ON s.node = k.node AND s.hour = k.hour AND s.minute = i
	GROUP BY k.node, k.hour
)
INSERT INTO sluice.node_history AS h (cell, node, hour, cpu_milli, memory_bytes)
SELECT $1, node, hour, cpu, memory FROM fence, sheet ORDER BY node, hour
ON CONFLICT (cell, node, hour) DO UPDATE SET
	cpu_milli = (SELECT array_agg(greatest(o, n) ORDER BY i)
		FROM unnest(h.cpu_milli, excluded.cpu_milli) WITH ORDINALITY AS u (o, n, i)),
	memory_bytes = (SELECT array_agg(greatest(o, n) ORDER BY i)
		FROM unnest(h.memory_bytes, excluded.memory_bytes) WITH ORDINALITY AS u (o, n, i))
