"""Typed parameters: what params.yaml may say, checked before anything trains.

One file a section, so that a stage depends only on the definitions that it reads.
"""
