"""The clauses of queries -> plans."""
