"""What queries have done: accounts of rows, figures, and why rows do not come."""
