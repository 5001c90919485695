"""Tests of scripts: rows that are given, and rows that are expected. Neither Spark nor a JVM takes part.

A file whose name ends in `_test.sql` has tests. `penstock test` runs them.
"""
