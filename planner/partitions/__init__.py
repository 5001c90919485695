"""Queries of a script -> how many partitions every stream and every join has, and why."""
