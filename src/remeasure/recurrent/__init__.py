"""Recurrent state measured against attention: perplexity, the gradient's way back, time."""
