"""Folders of checkpoints and outputs: files, locks, logs, and what is checked before a query may use them."""
