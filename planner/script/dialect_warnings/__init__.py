"""Warnings of what means something else in another system: T020 for forms, T019 for swapped arguments."""
