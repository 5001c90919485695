"""The facts of all connectors by their names. The archive of a job has them written out, without the planner."""

from penstock.codegen.connector_facts import ConnectorFacts
from penstock.planner.connectors import CONNECTORS, INTERMEDIATE, INTERNAL, MEMORY, Connector
from penstock.planner.plan.generated_columns import FIELDS


def _list_fields(connector: Connector) -> tuple[str, ...]:
    """What the options of columns begin with, if they say which data it is."""
    return (FIELDS,) if any(option.identifies for option in connector.column_options) else ()


FACTS = {
    each.name: ConnectorFacts(
        defaults=tuple(each.defaults.items()),
        identifying=(*(option.name for option in each.options if option.identifies), *_list_fields(each)),
        limiting=tuple(option.name for option in each.options if option.limits_batch),
        path_option=next((option.name for option in each.options if option.is_path), None),
        packages=each.packages,
        is_database=each.is_database,
        looks_up=each.looks_up,
        outlives_process=each.outlives_process,
        is_in_memory=each is MEMORY,
        is_intermediate=each is INTERMEDIATE,
        counts_partitions=each.counts_partitions,
    )
    for each in (*CONNECTORS, *INTERNAL)
}
