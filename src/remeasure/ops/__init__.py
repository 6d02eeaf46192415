"""Pure functions of tensors: averages, attention, positions, loss. They import torch alone."""
