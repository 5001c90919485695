"""Spark itself: its JVM, archives, settings, workers and versions."""
