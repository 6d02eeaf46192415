"""The report: what the notebook shows, and how it becomes one HTML file. Never imports torch."""
