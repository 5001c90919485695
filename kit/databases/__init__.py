"""Tables of databases: connecting, checking, reading, and writing batches of Arrow rows exactly once. No Spark.

`writer.TableWriter` is the door to writing. A batch, its refused rows and a row of the ledger are written in one
transaction. `finder.TableReader` reads, and `finder.RowFinder` finds rows by keys for workers. The modules stand in the
order of their imports: faults, secret_refs, spark_types, refused_records, counters, retries, column_types, address,
target_table, attempts, table_ledger, the three databases, collations, batch_changes, writer, reads, finder. A program
that is made of them has their definitions in this order (`codegen/bundle.py`). The first six need no SQLAlchemy.
"""
