-- The ledger, version 7: batches are numbered, so that a leader learns that some were lost; what a
-- run whose RESERVE was lost costs is marked as estimated; and the key that stories are signed with.

ALTER TABLE sluice.lease
	ADD COLUMN batch bigint NOT NULL DEFAULT 0,
	ADD COLUMN timeline text;
COMMENT ON COLUMN sluice.lease.batch IS
	'the number of the last batch. A leader that was told of a later one is deposed: Postgres failed over to a standby that lacks it, or was restored';
COMMENT ON COLUMN sluice.lease.timeline IS
	'of the server when the lease was taken; NULL: by a program of version 6. Another one: the ledger was promoted, or restored to a point in time, since then';

ALTER TABLE sluice.hold ADD COLUMN estimated boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN sluice.hold.estimated IS
	'adopted: its RESERVE was lost with a part of the ledger, and the Job''s own admission annotation says what it holds and since when';

ALTER TABLE sluice.segment ADD COLUMN estimated boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN sluice.segment.estimated IS
	'adopted, as in sluice.hold, or ended while a failover or a restore was made good: when it began or ended, and so its cost, is not what happened but what is known of it';

CREATE TABLE sluice.story_key (
	cell text COLLATE "C" PRIMARY KEY,
	key  bytea NOT NULL CHECK (length(key) = 16)
);
COMMENT ON TABLE sluice.story_key IS
	'What the admission annotations of the Jobs of a cell are signed with, so that a new leader can tell those that Sluice wrote. Drawn once. Without it Jobs whose reservation is lost are not adopted, but stopped.';

CREATE OR REPLACE VIEW sluice.cost AS
	SELECT cell, ns AS namespace, name, job_uid, attempt, owner, clusterqueue, localqueue, labels,
		started_at, stopped_at, reason,
		greatest(0, extract(epoch FROM stopped_at - started_at))::numeric AS run_seconds,
		(greatest(0, extract(epoch FROM stopped_at - started_at))
			* (SELECT sum((l ->> 3)::bigint) FROM jsonb_array_elements(lines) AS l
				WHERE l ->> 2 = 'pods'))::numeric AS pod_seconds,
		plan, currency, cost_micro::numeric / 1000000 AS cost,
		coalesce(lost_ms, 0)::numeric / 1000 AS lost_seconds, estimated
	FROM sluice.segment WHERE stopped_at IS NOT NULL;
COMMENT ON COLUMN sluice.cost.estimated IS
	'the ledger lost when this run began or ended (docs/restore.md)';
