"""Measured quantities, one a file."""
