"""Topics, their partitions, keys and schemas, as brokers and registries tell them."""
