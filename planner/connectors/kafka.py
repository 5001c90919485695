"""Kafka topics."""

from penstock.planner.connectors.option import STRING, Connector, ConnectorOption, OptionType

KAFKA = Connector(
    "kafka",
    "a Kafka topic",
    built=False,
    reads_stream=True,
    reads_table=True,
    parses_records=True,
    appends=True,
    upserts=True,
    deletes=True,
    exactly_once=True,
    has_partitions=True,
    own_options=(
        ConnectorOption("topic", STRING, "name of the topic", required=True, identifies=True),
        ConnectorOption(
            "format", OptionType("STRING", ("json",)), "format of the values", required=True, identifies=True
        ),
        ConnectorOption("servers", STRING, "host:port, several separated by commas"),
    ),
)
