# What a node and the controller tell each other.
fuzz_entry(orders node)
fuzz_entry(sample node)
