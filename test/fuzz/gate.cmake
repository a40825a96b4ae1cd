fuzz_entry(story gate)
