-- What was used of nodes: $4 hours behind the one of node $2 that begins at $3 (milliseconds since
-- 1970), in the order of node and hour. Arrays as text, minutes without a sample empty. $1 cell.
SELECT node, (extract(epoch FROM hour) * 1000)::int8, array_to_string(cpu_milli, ',', ''),
	array_to_string(memory_bytes, ',', '')
FROM sluice.node_history
WHERE cell = $1 AND (node, hour) > ($2, timestamptz 'epoch' + $3 * interval '1 millisecond')
ORDER BY node, hour LIMIT $4
