"""Names of columns in Spark SQL."""

from collections.abc import Mapping


def quote_name(name: str) -> str:
    """The name as Spark SQL writes it."""
    return "`" + name.replace("`", "``") + "`"


def schema_of(columns: Mapping[str, str]) -> str:
    """Columns and their types as a schema of Spark's."""
    return ", ".join(f"{quote_name(name)} {type_}" for name, type_ in columns.items())
