"""Records -> matplotlib figures: one file a section, one function a figure. Never imports torch."""
