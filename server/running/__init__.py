"""The engine process: statements in, running queries and their tables out."""
