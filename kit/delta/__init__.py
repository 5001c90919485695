"""Tables of Delta Lake, through delta-rs: their feed, their rows, and batches that are written exactly once."""
