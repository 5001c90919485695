"""Tables that others own: what a micro-batch changes in them, and lookups of their rows."""
