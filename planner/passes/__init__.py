"""What is done to a finished plan: rewrites change it, checks find what is wrong with it. `pipeline.py` runs them."""
