"""Measure again every number that a chapter on the transformer block prints."""

import os

STARTED_BY = os.getppid()
"""The process that started this one, read before the imports that take seconds."""
