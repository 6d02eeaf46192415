"""The ledger: what the chapters print, held against what was measured. Never imports torch."""
