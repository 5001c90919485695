"""Tables of databases: connecting, checking, and writing batches of Arrow rows exactly once in effect. No Spark.

`writer.TableWriter` is the door. A batch, its refused rows and a row of the ledger are written in one transaction.
The modules stand in the order of their imports: faults, spark_types, address, table, ledger, the three databases,
changes, writer. A program that is made of them has their definitions in this order (`codegen/bundle.py`).
"""
