"""The modules that an ejected program is made of. Running queries use the connectors among them, too.

They import nothing of Penstock but each other and `codegen/worker`. No other module of this room imports one of them,
because they need pyspark, and a script is compiled without it. No two of them, and of `codegen/worker`, define the same
name (`codegen/bundle.py`).
"""
