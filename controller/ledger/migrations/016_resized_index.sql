-- The ledger, addition 16: an index for the views of addition 15. By itself, so that the table is locked for
-- its readers no longer than a new column takes: an index leaves readers alone.
--
-- Runs that changed their size are few: whether one is among them costs a look at a small index, of each
-- run of a report. The view sluice.cost asks by it, too.

CREATE INDEX transfer_resized ON sluice.transfer (job_uid, attempt, cell) WHERE kind IN ('SHRINK', 'GROW');
COMMENT ON INDEX sluice.transfer_resized IS 'how runs grew and shrank';
