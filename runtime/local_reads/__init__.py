"""A Read of small files -> its rows, by DuckDB: in a moment, where Spark takes seconds to start.

The files have to be plain: whatever Spark may understand in another way is left to Spark, and so is every failure.
"""

from penstock.runtime.local_reads.answer import answer_locally, answer_tables

__all__ = ["answer_locally", "answer_tables"]
