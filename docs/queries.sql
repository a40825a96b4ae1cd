-- Questions about past runs, and the statements that answer them: for psql, by a role that may read
-- the views (ask.md has it). Write your own names for team, batch, spot, Europe/Berlin and the label
-- cost-centre; the controller's --bill-labels names the labels that runs keep. Where several
-- clusters share a database, add cell = '...'. Limit the time by ended_by: it has an index, and is
-- infinity for runs that go on. A run counts whole in the month in which it started. Costs in
-- different currencies are never added up. A test runs each statement.

-- ---- The group ----

-- Which Jobs of my group ran last week?
SELECT name, count(*) AS runs, min(started_at), max(stopped_at), max(job_outcome) AS outcome
FROM sluice.run
WHERE namespace = 'team' AND ended_by >= date_trunc('week', now()) - interval '7 days'
  AND started_at < date_trunc('week', now()) GROUP BY name, job_uid ORDER BY 3;

-- What runs now, and for whom?
SELECT namespace, name, submitted_by, state, started_at, cpu_hours, gpu_hours
FROM sluice.run WHERE state <> 'Ended' ORDER BY started_at;

-- What is the whole story of a Job? The line with hashes finds it by an index, at once.
SELECT attempt, queued_at, started_at, stopped_at, reason, preemptor, lost_seconds, cost
FROM sluice.run WHERE namespace = 'team' AND name = 'train-7'
  AND hashtextextended(namespace || '/' || name, 0) = hashtextextended('team/train-7', 0)
ORDER BY started_at;

-- How long did we wait, median and 99th percentile, in each queue?
SELECT clusterqueue, count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY started_at - queued_at)
  AS median, percentile_cont(0.99) WITHIN GROUP (ORDER BY started_at - queued_at) AS p99
FROM sluice.run WHERE namespace = 'team' AND ended_by >= now() - interval '30 days'
  AND NOT estimated GROUP BY clusterqueue;

-- At which hour of the day is the wait shortest?
SELECT extract(hour FROM queued_at AT TIME ZONE 'Europe/Berlin') AS hour, count(*),
  percentile_cont(0.5) WITHIN GROUP (ORDER BY started_at - queued_at) AS median
FROM sluice.run WHERE clusterqueue = 'batch' AND ended_by >= now() - interval '30 days'
GROUP BY 1 ORDER BY 1;

-- Which Jobs waited longest for their first start?
SELECT name, submitted_by, started_at - queued_at AS waited, started_at FROM sluice.run
WHERE namespace = 'team' AND attempt = 1 AND ended_by >= now() - interval '30 days'
  AND queued_at IS NOT NULL AND started_at IS NOT NULL ORDER BY waited DESC LIMIT 10;

-- For which Jobs were we preempted, and how much work was lost? In pod-hours.
SELECT coalesce(preemptor, '(not known)') AS preemptor, count(*) AS stops,
  round(sum(lost_seconds) / 3600, 1) AS lost
FROM sluice.run WHERE namespace = 'team' AND reason = 'Preempted'
  AND ended_by >= now() - interval '30 days' GROUP BY 1 ORDER BY lost DESC;

-- Which Jobs were preempted for ours?
SELECT namespace, name, stopped_at, preemptor, lost_seconds FROM sluice.run
WHERE preemptor LIKE 'team/%' AND ended_by >= now() - interval '30 days' ORDER BY stopped_at DESC;

-- Which Jobs were stopped most often?
SELECT namespace, name, count(*) AS stops, sum(lost_seconds) AS lost FROM sluice.run
WHERE reason NOT IN ('Finished', 'Failed', 'Deleted') AND ended_by >= now() - interval '30 days'
GROUP BY namespace, name, job_uid ORDER BY stops DESC LIMIT 10;

-- Which Jobs needed more than one run? Asked without a time, sluice.job reads all runs of the
-- namespace.
SELECT name, submitted_by, runs, outcome, wait_seconds, run_seconds, lost_seconds, cost
FROM sluice.job WHERE namespace = 'team' AND runs > 1 ORDER BY runs DESC, name LIMIT 20;

-- Which runs were stopped in their first ten minutes? They cost a start and did little.
SELECT reason, count(*) FROM sluice.run
WHERE reason NOT IN ('Finished', 'Failed', 'Deleted') AND run_seconds < 600
  AND ended_by >= now() - interval '30 days' GROUP BY reason ORDER BY 2 DESC;

-- What failed, and what did that cost?
SELECT namespace, name, stopped_at, submitted_by, cpu_hours, gpu_hours, currency, cost
FROM sluice.run WHERE job_outcome = 'Failed' AND ended_by >= now() - interval '7 days'
ORDER BY cost DESC NULLS LAST;

-- Which Jobs were deleted before they had ended?
SELECT namespace, name, submitted_by, stopped_at, round(run_seconds) AS ran, cost FROM sluice.run
WHERE job_outcome = 'Deleted' AND ended_by >= now() - interval '7 days' ORDER BY stopped_at DESC;

-- How long does each CronJob take? Forecasts of a run's length rest on the same runs.
SELECT namespace, owner, count(*), round(avg(run_seconds)) AS mean, round(max(run_seconds)) AS most
FROM sluice.run WHERE owner LIKE 'CronJob/%' AND reason = 'Finished'
  AND ended_by >= now() - interval '30 days' GROUP BY namespace, owner ORDER BY mean DESC;

-- ---- The cluster ----

-- What ran at 03:00 last night?
SELECT r.namespace, r.name, r.clusterqueue, r.started_at, r.stopped_at, r.lines
FROM sluice.run AS r,
  LATERAL (SELECT date_trunc('day', now() - interval '3 hours', 'Europe/Berlin')
    + interval '3 hours' AS night) AS t
WHERE r.ended_by > t.night AND r.started_at <= t.night ORDER BY r.started_at;

-- How much of a flavor was used, by hour? In cores, as they were held at the start of each run.
SELECT hour, round(sum((l ->> 3)::bigint * extract(epoch FROM
  least(r.ended_by, now(), hour + interval '1 hour') - greatest(r.started_at, hour))) / 3600000, 1)
  AS cores
FROM generate_series(date_trunc('hour', now()) - interval '1 day', now(), interval '1 hour') AS hour
JOIN sluice.run AS r ON r.started_at < hour + interval '1 hour' AND r.ended_by > hour,
  jsonb_array_elements(r.lines) AS l
WHERE r.ended_by >= now() - interval '26 hours' AND l ->> 1 = 'spot' AND l ->> 2 = 'cpu'
GROUP BY hour ORDER BY hour;

-- How much did a queue hold, by quarter of an hour? Of each flavor and resource, as it was held at
-- the start of each run, in the units of lines (cpu in thousandths of a core). The last quarter is
-- not over yet. clusterqueues/usage (ask.md) also has what runs grew and shrank by.
SELECT l ->> 1 AS flavor, l ->> 2 AS resource, quarter, round(sum((l ->> 3)::bigint
  * extract(epoch FROM least(r.ended_by, now(), quarter + interval '15 minutes')
    - greatest(r.started_at, quarter))::numeric) / 900, 3) AS held
FROM generate_series(date_trunc('hour', now()) - interval '1 day', now(), interval '15 minutes')
  AS quarter
JOIN sluice.run AS r ON r.started_at < quarter + interval '15 minutes' AND r.ended_by > quarter,
  jsonb_array_elements(r.lines) AS l
WHERE r.ended_by >= now() - interval '26 hours' AND r.clusterqueue = 'batch'
GROUP BY flavor, l ->> 2, quarter ORDER BY flavor, l ->> 2, quarter;

-- How much was started in the night window, and how much by day?
SELECT clock >= '22:00' OR clock < '06:00' AS at_night, count(*) AS runs,
  round(sum(cpu_hours)) AS cpu_hours, round(sum(gpu_hours)) AS gpu_hours
FROM sluice.run, LATERAL (SELECT (started_at AT TIME ZONE 'Europe/Berlin')::time AS clock) AS c
WHERE clusterqueue = 'batch' AND ended_by >= now() - interval '30 days' GROUP BY at_night;

-- Which share of each queue did each namespace have? In percent of its cpu-hours.
SELECT clusterqueue, namespace, round(sum(cpu_hours)) AS cpu_hours,
  round(100 * sum(cpu_hours) / nullif(sum(sum(cpu_hours)) OVER (PARTITION BY clusterqueue), 0), 1)
    AS percent
FROM sluice.run WHERE ended_by >= now() - interval '30 days'
GROUP BY clusterqueue, namespace ORDER BY clusterqueue, cpu_hours DESC;

-- Which share of the work was thrown away, and by what? In percent of all pod-hours. Only of
-- ClusterQueues whose coveredResources have pods.
SELECT reason, round(sum(lost_seconds) / 3600, 1) AS lost,
  round(100 * sum(lost_seconds) / nullif(sum(sum(pod_seconds)) OVER (), 0), 2) AS percent
FROM sluice.cost WHERE stopped_at >= now() - interval '30 days' GROUP BY reason ORDER BY lost DESC;

-- Which users had the most pods at once? Only of ClusterQueues whose coveredResources have pods.
SELECT submitted_by, max(pods) AS most FROM (
  SELECT submitted_by, sum(sum(change)) OVER (PARTITION BY submitted_by ORDER BY at) AS pods
  FROM sluice.run, jsonb_array_elements(lines) AS l,
    LATERAL (VALUES (started_at, (l ->> 3)::bigint), (stopped_at, -(l ->> 3)::bigint))
      AS step (at, change)
  WHERE l ->> 2 = 'pods' AND ended_by >= now() - interval '30 days' AND at IS NOT NULL
  GROUP BY submitted_by, at) AS held GROUP BY submitted_by ORDER BY most DESC LIMIT 10;

-- How many Jobs ended each day, and how many of them well?
SELECT date_trunc('day', stopped_at, 'Europe/Berlin') AS day, count(*) AS jobs,
  count(*) FILTER (WHERE job_outcome = 'Succeeded') AS well
FROM sluice.run WHERE job_outcome IS NOT NULL AND ended_by >= now() - interval '14 days'
GROUP BY day ORDER BY day;

-- How did runs end, in each queue?
SELECT clusterqueue, reason, count(*), round(sum(run_seconds) / 3600, 1) AS hours FROM sluice.run
WHERE stopped_at >= now() - interval '30 days' AND ended_by >= now() - interval '30 days'
GROUP BY clusterqueue, reason ORDER BY clusterqueue, 3 DESC;

-- ---- Finance ----

-- What has each cost centre cost, by month?
SELECT date_trunc('month', started_at, 'Europe/Berlin') AS month,
  labels ->> 'cost-centre' AS centre, currency, sum(cost) AS cost
FROM sluice.cost WHERE stopped_at >= now() - interval '1 year'
GROUP BY 1, 2, 3 ORDER BY 1, cost DESC;

-- What has each namespace cost this year? With the runs that were forgotten.
SELECT namespace, currency, sum(runs) AS runs, sum(cost) AS cost FROM sluice.cost_by_month
WHERE month >= date_trunc('year', now(), 'UTC') GROUP BY namespace, currency ORDER BY cost DESC;

-- How many GPU hours has each user had this month?
SELECT coalesce(submitted_by, '(not known)') AS who, round(sum(gpu_hours), 1) AS gpu_hours
FROM sluice.run WHERE started_at >= date_trunc('month', now(), 'Europe/Berlin')
  AND ended_by >= date_trunc('month', now(), 'Europe/Berlin') GROUP BY who ORDER BY gpu_hours DESC;

-- Which ten Jobs were the dearest?
SELECT namespace, name, count(*) AS runs, currency, sum(cost) AS cost FROM sluice.cost
WHERE stopped_at >= now() - interval '30 days' AND cost IS NOT NULL
GROUP BY namespace, name, job_uid, currency ORDER BY cost DESC LIMIT 10;

-- What did runs cost that were stopped, or whose Jobs were deleted?
SELECT namespace, reason, currency, count(*), sum(cost) AS cost FROM sluice.cost
WHERE reason NOT IN ('Finished', 'Failed') AND stopped_at >= now() - interval '30 days'
GROUP BY namespace, reason, currency ORDER BY cost DESC NULLS LAST;

-- Which bills are estimated? The ledger lost when these runs began or ended (restore.md).
SELECT namespace, name, attempt, started_at, stopped_at, currency, cost FROM sluice.cost
WHERE estimated AND stopped_at >= now() - interval '90 days' ORDER BY stopped_at;

-- What ran without a price?
SELECT clusterqueue, count(*) AS runs, round(sum(cpu_hours)) AS cpu_hours FROM sluice.run
WHERE currency IS NULL AND stopped_at >= now() - interval '30 days'
  AND ended_by >= now() - interval '30 days' GROUP BY clusterqueue ORDER BY runs DESC;
