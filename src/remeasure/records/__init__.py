"""Typed results, and how they are written and read. One file a kind of result."""
