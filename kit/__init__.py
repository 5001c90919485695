"""What travels: to Spark's Python workers, and into programs that are ejected. It imports nothing else of Penstock.

Running queries call the same functions. The modules are imported one by one: some need pyspark, and a script is
compiled without it. No two modules that a program is made of define the same name (`codegen/bundle.py`).
"""
