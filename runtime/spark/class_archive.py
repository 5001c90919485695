"""A JDK and a Spark -> the archive of Spark's classes, which a JVM that starts maps into its memory as they are.

Without it the JVM reads and checks some twenty thousand classes each time. It ignores an archive that does not fit.
Source: https://docs.oracle.com/en/java/javase/17/vm/class-data-sharing.html
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pyspark

FOLDER = "~/.cache/penstock/classes"


def find_archive(jdk: Path) -> Path:
    """Where the archive for this JDK and the installed Spark is, or would be."""
    release = jdk / "release"
    told = release.read_text("utf-8") if release.is_file() else ""
    made_for = json.dumps([str(jdk), told, pyspark.__version__, pyspark.__file__])
    digest = hashlib.sha256(made_for.encode()).hexdigest()[:12]
    return Path(FOLDER).expanduser() / f"spark-{pyspark.__version__}-{digest}.jsa"
