"""Program -> the page beside a job: what lies there, what it needs, and how it is run."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.codegen.connector_options import PACKAGES
from penstock.codegen.program import Input, Program, QueryOutput, RemoteView
from penstock.codegen.spark_versions import SPARK_VERSIONS, number_text

NEEDED = ("pyarrow", "pandas", "duckdb", "msgspec", "rich")
"""What every job needs beside pyspark. Spark's workers need the first three."""


def write_readme(program: Program) -> str:
    """About ten lines of Markdown."""
    places = [*_list_places(program)]
    connectors = [*dict.fromkeys(each.connector for each in places)]
    needed = dict.fromkeys(package for name in connectors for package in PACKAGES.get(name, {}).values())
    packages = " ".join([*NEEDED, *filter(None, needed)])
    first, (major, minor) = min(SPARK_VERSIONS), max(SPARK_VERSIONS)
    jars = [jar.coordinates for name in connectors for jar in SPARK_VERSIONS[major, minor].jars.get(name, ())]
    given = f" --packages {','.join(jars)}" if jars else ""
    lines = [
        "# Job",
        "Penstock has written this folder. It runs without Penstock.",
        "",
        "- `job.py` says what is read, computed and written. `sql/` has the SQL of its views.",
        "  `kit.zip` is the library that runs them.",
        "- It needs Python 3.11, a JDK 17 or 21, and",
        f"  `pip install 'pyspark>={number_text(first)},<{major}.{minor + 1}' {packages}`.",
        "- `python job.py --once` reads what is there, accounts for every row, and ends. `--help` shows all options.",
        f"- `spark-submit --py-files kit.zip{given} job.py --checkpoint hdfs:///state`",
        "  keeps running, and goes on where it was stopped.",
        "- In the deploy mode cluster the SQL has to travel, too: `zip -r kit.zip sql`.",
        "  The driver reads this copy. So do it again after each edit of `sql/`.",
        "- A checkpoint of `penstock run` fits, until a file is edited. Then take a new one.",
    ]
    return "\n".join(lines) + "\n"


def _list_places(program: Program) -> Iterator[Input | QueryOutput | RemoteView]:
    for query in program.queries:
        yield from query.inputs
        yield from (each for each in query.views if isinstance(each, RemoteView))
        yield query.output
