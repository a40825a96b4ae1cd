# What people hand to `sluice import`.
fuzz_entry(import sluice_cli)
