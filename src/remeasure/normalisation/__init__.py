"""Other norms where the block has its LayerNorm, and what each of them averages over."""
