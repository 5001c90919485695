"""Tables of databases: connecting, checking, reading, and writing batches of Arrow rows exactly once. No Spark.

`writer.TableWriter` is the door to writing. A batch, its refused rows and a row of the ledger are written in one
transaction. `finder.TableReader` reads, and `finder.RowFinder` finds rows by keys for workers.

What differs from one database to the other is in its `DatabaseEngine`, which `Address.engine` gives. Engines know
addresses and tables only as types. A program that is made of these modules defines both first (`codegen/pyspark.py`).

The modules stand in the order of their imports:
- without SQLAlchemy: faults, secret_refs, spark_types, refused_records, counters, retries
- engines: found_table, operations, row_values, engine, a module for each database, engines, address
- tables: target_table, reads, attempts, table_ledger, collations, batch_changes, writer, finder
"""
