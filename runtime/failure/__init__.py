"""Exceptions of Spark, Java and Python -> coded findings in words of the query."""
