"""The HTTP door, and the console in the browser.

`door.py` listens, `app.py` puts the routes together: `statements.py`, `queries.py`, `tables.py` and `pages.py`.
`guard.py`, `security.py` and `services.py` decide who may send a request. `catalog.py` has the SQL over the schema
`penstock`, `table_rows.py` that over users' tables, and `changes.py` follows the log of their changes.
"""
