"""The commands of `penstock`, one module each, and what several of them share."""
