"""Kafka topics."""

from penstock.planner.connectors.option import INTEGER, STRING, Connector, ConnectorOption, OptionType

KAFKA = Connector(
    "kafka",
    "a Kafka topic",
    reads=True,
    writes=True,
    built=False,
    options=(
        ConnectorOption("topic", STRING, "name of the topic", required=True),
        ConnectorOption("format", OptionType("STRING", ("json",)), "format of the values", required=True),
        ConnectorOption("servers", STRING, "host:port, several separated by commas"),
        ConnectorOption("partitions", INTEGER, "number of partitions of the topic"),
    ),
)
