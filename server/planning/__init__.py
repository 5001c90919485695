"""Checks and plans of what users send, in processes that can be ended.

`fork_server.py` is a small process that knows the relations of the server. It forks a process for each job, with a
limit of time and memory. `fork_client.py` asks it. `checks.py` has the jobs of the doors, `statement_planner.py` the
jobs of the engine.
"""
