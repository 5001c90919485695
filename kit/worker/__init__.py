"""What Spark's Python workers compute with DuckDB and Arrow, and the views that call it."""
