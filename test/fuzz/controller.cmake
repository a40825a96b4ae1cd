fuzz_entry(review controller_parts)
fuzz_entry(prom_text overcommit_controller)
fuzz_entry(whatif controller_parts)
