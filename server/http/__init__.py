"""The HTTP door, and the console in the browser.

`door.py` listens. `app.py` puts the routes together: `statement_routes.py`, `query_routes.py`, `table_routes.py`,
`pages.py`.
`guard.py`, `security.py` and `services.py` decide who may send a request. `door_catalog.py` has the SQL over the schema
`penstock`, `table_requests.py` that over users' tables, and `change_feed.py` follows the log of their changes.
"""
