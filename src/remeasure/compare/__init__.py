"""Two commits beside each other, and experiments in one table. Reads git and DVC, changes neither.

Imports no torch. `python -m remeasure.compare A B`, `python -m remeasure.compare.table`.
"""
