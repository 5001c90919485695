"""The path of a file -> the texts that its folders, such as `day=2026-01-01`, have for columns."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from pyspark.sql import DataFrame

from penstock.codegen.ejected.rows import quote_name

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What Hive, Spark and Flink write for NULL."""


def add_folder_texts(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """The rows with the texts of the columns in the struct `_folder`, by the path in `_file`.

    NULL stands for a column without a folder. The whole struct is NULL where no folder is for any column. The folder
    that is nearest to the file counts.
    """
    if not columns:
        return rows
    # Searching a path costs little; patterns and escapes are looked at where a folder is found.
    path = f"CASE WHEN CONTAINS(_file, '=') THEN {decode_sql('_file')} END"
    found = [f"{find_text_sql(name)} AS {quote_name(name)}" for name in columns]
    texts = [f"_found.{quote_name(name)}" for name in columns]
    values = [f"NULLIF(NULLIF({decode_sql(text)}, ''), '{NO_VALUE}')" for text in texts]
    named = [f"{value} AS {quote_name(name)}" for value, name in zip(values, columns, strict=True)]
    any_ = f"COALESCE({', '.join(texts)}) IS NOT NULL"
    return (
        rows.selectExpr("*", f"{path} AS _path")
        .selectExpr("*", "LOWER(_path) AS _keys")
        .selectExpr("*", f"CASE WHEN _keys IS NOT NULL THEN STRUCT({', '.join(found)}) END AS _found")
        .selectExpr("*", f"CASE WHEN {any_} THEN STRUCT({', '.join(named)}) END AS _folder")
    )


def find_text_sql(name: str) -> str:
    """Spark SQL for what the folder of a column says in `_path`, with escapes; NULL without one."""
    escaped = re.sub(r"[\x00-\x1f\x7f\"#%'*/:=?\\{[\]^]", lambda sign: f"%{ord(sign[0]):02X}", name)
    spellings = sorted({name.lower(), escaped.lower()})
    is_there = " OR ".join(f"CONTAINS(_keys, {quote_text(f'/{each}=')})" for each in spellings)
    pattern = f"(?i)^.*/(?:{'|'.join(map(quote_pattern, spellings))})=([^/]*)/"
    return f"CASE WHEN {is_there} THEN REGEXP_EXTRACT(_path, {quote_text(pattern)}, 1) END"


def list_folder_columns(file: str, columns: Iterable[str]) -> list[str]:
    """The columns that the folders of a file have values of. `file`: its path as an URI."""
    keys = {unquote(part.partition("=")[0]).lower() for part in unquote(file).split("/")[:-1] if "=" in part}
    return [name for name in columns if name.lower() in keys]


def decode_sql(text: str) -> str:
    """Spark SQL for a text without escapes such as `%3A`. The function that decodes would take `+` for a space."""
    decoded = f"TRY_URL_DECODE(REPLACE({text}, '+', '%2B'))"
    return f"CASE WHEN CONTAINS({text}, '%') THEN COALESCE({decoded}, {text}) ELSE {text} END"


def quote_text(text: str) -> str:
    """A text as Spark SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def quote_pattern(text: str) -> str:
    """A regular expression of Java's that matches a text."""
    return re.sub(r"[^\w]", lambda sign: f"\\x{{{ord(sign[0]):x}}}", text)
