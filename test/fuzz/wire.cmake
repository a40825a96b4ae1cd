fuzz_entry(clusterqueue wire)
fuzz_entry(job wire)
fuzz_entry(notes wire)
fuzz_entry(quantity wire)
