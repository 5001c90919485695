"""Joins: of streams, of tables, of a stream with a table. `matrix.py` says which are legal."""
