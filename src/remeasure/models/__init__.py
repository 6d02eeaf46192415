"""The parts of a language model as modules; `build.py` alone chooses among them."""
