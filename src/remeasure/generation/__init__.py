"""Text from a trained model, one token at a time."""
