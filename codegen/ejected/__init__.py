"""The modules that an ejected program is made of. Running queries use the connectors among them, too.

They import nothing of Penstock but each other, and no other module of this room imports one of them: they need pyspark,
and a script is compiled without it. No two of them define the same name (`codegen/bundle.py`).
"""
