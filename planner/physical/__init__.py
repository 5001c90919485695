"""How operators with state run: one class for each way, and the rule that chooses it."""
