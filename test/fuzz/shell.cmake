fuzz_entry(review shell)
