"""From a text on the network to arrays of token ids and batches of windows."""
