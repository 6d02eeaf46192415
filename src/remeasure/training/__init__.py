"""Train and evaluate any module with a `loss`; it never asks what the module is made of."""
