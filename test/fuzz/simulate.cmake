# What people hand to `sluice simulate`.
fuzz_entry(manifest simulate)
fuzz_entry(settings simulate)
fuzz_entry(trace simulate)
