"""Measure again every number that a chapter on the transformer block prints."""
