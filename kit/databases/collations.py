"""Whether a table keeps keys apart that Spark keeps apart."""

import pyarrow as pa
import sqlalchemy as sa

from penstock.kit.databases.faults import TableError
from penstock.kit.databases.operations import raw_cursor
from penstock.kit.databases.spark_types import quote_identifier
from penstock.kit.databases.target_table import TargetTable

PROBES = ("a", "A", "a ", "\u00e1", "a\u0301")
"""Texts that collations take to be equal: by case, blanks at the end, accents, and spelling in Unicode."""


def check_collations(connection: sa.Connection, table: TargetTable) -> None:
    """Compares texts as the columns of the key do. A table that takes two keys for one would lose rows.

    Raises TableError (key).
    """
    cursor = raw_cursor(connection)
    for name in table.key:
        if not pa.types.is_string(table.arrow_schema([name]).field(0).type):
            continue
        column = f"SELECT {quote_identifier(name)} AS c FROM {table.quoted_name} WHERE 1 = 0"
        texts = "".join(f" UNION ALL SELECT '{text}'" for text in PROBES)
        cursor.execute(f"SELECT COUNT(DISTINCT c) FROM ({column}{texts}) AS probes")
        [(different,)] = cursor.fetchall()
        if different < len(PROBES) or name in table.address.engine.list_collated(connection, table):
            message = f"{table.place} takes different values of its key {name} to be equal, by its collation"
            raise TableError("key", message, "give the column a collation that compares the bytes of texts")
