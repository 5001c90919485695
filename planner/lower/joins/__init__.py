"""Joins between streams, between tables, and between a stream and a table. `matrix.py` says which are legal."""
