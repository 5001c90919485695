"""`penstock serve`: three processes that take statements, run their queries and show their tables.

The process of the command has the doors (`postgres/`, `http/`). It starts the engine, and PostgreSQL unless one runs
already. The engine is a process with Spark, which runs the queries (`running/`). PostgreSQL (`database/`) holds the
tables, and the statements that the doors hand to the engine.
"""
