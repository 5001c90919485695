"""Messages in Avro, their schemas, and the registry that keeps these. No Spark."""
