"""Folders of files: their names, their order, and their records."""
