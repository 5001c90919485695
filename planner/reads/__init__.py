"""Bounded SELECTs over tables as they are at one moment -> plans without state, time or changes."""
