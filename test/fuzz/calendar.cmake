# Schedules, holidays, calendars.
fuzz_entry(cron calendar_words)
fuzz_entry(ics calendar_words)
fuzz_entry(calendar calendar_words)
