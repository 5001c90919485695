"""Penstock, Spark programs written by hand, Flink and DuckDB over the same rows: `python -m bench --help`."""
