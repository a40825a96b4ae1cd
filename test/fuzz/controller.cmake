fuzz_entry(review shell)
fuzz_entry(itemizer lender)
