"""Plans carried out: parts, training and probes put together into one record a stage."""
