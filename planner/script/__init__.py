"""Statements: CREATE, INSERT, SET, SHOW, EXPLAIN and queries -> the queries, answers and catalog of a script."""
