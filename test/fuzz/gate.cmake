fuzz_entry(story gate)
fuzz_entry(outcomes gate)
