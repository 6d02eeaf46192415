"""The parts of a language model as modules, and `build.py`, the one place that chooses among them."""
