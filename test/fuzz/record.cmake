fuzz_entry(record record)
