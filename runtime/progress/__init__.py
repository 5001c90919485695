"""What queries have done: accounts of inputs, reports, and why rows do not come."""
