"""More than one machine: stages go out to the workers of Dask, and their results come back.

`task` is what a worker does; the rest is the coordinator's: `asking` says what a stage needs,
`accepting` holds a reply against it, `recording` tells DVC, `workers` knows Dask, and `coordinator`
decides what runs where.
"""
