"""Tables of databases: connecting, checking, reading, and writing batches of Arrow rows exactly once. No Spark.

`writer.TableWriter` is the door to writing. A batch, its refused rows and a row of the ledger are written in one
transaction. `finder.TableReader` reads, and `finder.RowFinder` finds rows by keys for workers. The modules stand in the
order of their imports: faults, secrets, spark_types, records, counters, retries, column_types, address, table,
attempts, ledger, the three databases, collations, changes, writer, reads, finder. A program that is made of them has
their definitions in this order (`codegen/bundle.py`). The first six need no SQLAlchemy.
"""
