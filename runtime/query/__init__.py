"""A query of a program in its folder: started, waited for, stopped, and what Spark is given to run."""
