fuzz_entry(review shell)
fuzz_entry(prom_text overcommit_controller)
