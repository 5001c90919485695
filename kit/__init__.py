"""What travels: to Spark's Python workers, and into the archives of jobs. It imports nothing else of Penstock.

Running queries call the same functions. The modules are imported one by one: some need pyspark, and a script is
compiled without it.
"""
