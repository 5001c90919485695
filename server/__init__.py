"""`penstock serve`: one long-running process that takes statements, runs their queries and shows their tables.

The doors (`postgres/`, `http/`) are in the process of the command. The engine, which has Spark, is in a process of its
own. A real PostgreSQL holds the tables, and the statements that the doors hand to the engine.
"""
