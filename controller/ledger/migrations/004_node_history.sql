-- The ledger, version 4: what was used of each node, for the forecast behind gocran.io figures
-- (docs/idle.md). Nothing else in the ledger depends on it: it may be emptied at any time.

CREATE TABLE sluice.node_history (
	cell         text COLLATE "C" NOT NULL,
	node         text COLLATE "C" NOT NULL,
	hour         timestamptz NOT NULL,
	cpu_milli    bigint[] NOT NULL CHECK (cardinality(cpu_milli) = 60),
	memory_bytes bigint[] NOT NULL CHECK (cardinality(memory_bytes) = 60),
	PRIMARY KEY (cell, node, hour)
);
COMMENT ON TABLE sluice.node_history IS
	'What high-priority pods and the system used of a node, minute by minute; a row is an hour of a node. Kept for a week.';
COMMENT ON COLUMN sluice.node_history.cell IS 'names the Kubernetes cluster; several may share one database';
COMMENT ON COLUMN sluice.node_history.node IS 'the name of the Node';
COMMENT ON COLUMN sluice.node_history.hour IS 'its beginning';
COMMENT ON COLUMN sluice.node_history.cpu_milli IS
	'thousandths of a core, one for each minute of the hour; NULL: no sample in it';
COMMENT ON COLUMN sluice.node_history.memory_bytes IS
	'bytes, one for each minute of the hour; NULL: no sample in it';
