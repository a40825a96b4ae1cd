fuzz_entry(calc sluice_cli)
