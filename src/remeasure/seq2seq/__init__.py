"""Sequence to sequence on tasks with right answers: one vector, or a weighted sum at each step."""
