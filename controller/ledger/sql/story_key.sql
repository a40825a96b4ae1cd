-- The key that a cell's stories are signed with. Who has just taken the lease draws it if there is none
-- yet. $1 cell, $2 session, $3 16 bytes in hex, drawn just now.
WITH drawn AS (
	INSERT INTO sluice.story_key (cell, key)
	SELECT $1, decode($3, 'hex')
	WHERE EXISTS (SELECT FROM sluice.lease WHERE cell = $1 AND session = $2)
		AND NOT EXISTS (SELECT FROM sluice.story_key WHERE cell = $1)
	ON CONFLICT (cell) DO NOTHING
	RETURNING key
)
SELECT encode(key, 'hex')
FROM (SELECT key FROM drawn UNION ALL SELECT key FROM sluice.story_key WHERE cell = $1) AS k LIMIT 1
