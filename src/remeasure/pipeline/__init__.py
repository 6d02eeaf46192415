"""Tools around the pipeline: run its stages side by side, run a small copy of it.

The only part of the package that knows of DVC; nothing else imports it.
"""
