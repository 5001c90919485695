"""The plan of a read -> SQL of DuckDB with the same answer, so that small tables are read without Spark.

Only what is known to mean the same in both is lowered. A read with anything else is left to Spark.
"""

from penstock.codegen.local_reads.duckdb_nodes import make_local_read

__all__ = ["make_local_read"]
