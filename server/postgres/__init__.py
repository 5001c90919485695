"""The door for tools that speak to PostgreSQL: a relay that hands statements of Penstock to the engine."""
