"""The PostgreSQL behind the doors: where it is, how it starts, and what Penstock keeps in it."""
