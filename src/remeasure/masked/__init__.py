"""The block without its causal mask, trained to fill in tokens that are hidden from it."""
