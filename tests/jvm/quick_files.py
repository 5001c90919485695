"""A jar for the JVMs that tests start: local files without a process for each of them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

SOURCE = Path(__file__).with_name("QuickFiles.java")
CACHE = Path(__file__).parents[2] / ".pytest_cache"
# Hadoop reads this file wherever it stands in the classpath.
SITE = """<configuration>
<property><name>fs.file.impl</name><value>QuickFiles</value></property>
<property><name>fs.AbstractFileSystem.file.impl</name><value>QuickFiles$Context</value></property>
</configuration>
"""


def use_quick_files() -> None:
    """Adds the jar to the classpath of all Sparks. Without a compiler nothing changes: tests are slower then."""
    spark, home = find_spec("pyspark"), os.environ.get("JAVA_HOME")
    javac = shutil.which("javac", path=str(Path(home, "bin")) if home else None)
    if spark is None or spark.origin is None or javac is None:
        return
    (hadoop,) = Path(spark.origin).parent.glob("jars/hadoop-client-api-*.jar")
    digest = hashlib.sha256(f"{SOURCE.read_text(encoding='utf-8')}{SITE}{hadoop.name}".encode()).hexdigest()
    jar = CACHE / f"quick-files-{digest[:12]}.jar"
    if not jar.exists():
        _build(jar, javac, hadoop)
    os.environ["SPARK_DIST_CLASSPATH"] = str(jar)


def _build(jar: Path, javac: str, hadoop: Path) -> None:
    """Compiles the source. Several processes may do so at the same time."""
    CACHE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        folder = Path(name)
        compiler = [javac, "--release", "17", "-proc:none", "-cp", str(hadoop), "-d", name, str(SOURCE)]
        subprocess.run(compiler, check=True, stderr=subprocess.PIPE, text=True)
        (folder / "core-site.xml").write_text(SITE, encoding="utf-8")
        with zipfile.ZipFile(folder / "built", "w") as archive:
            for file in (*folder.glob("*.class"), folder / "core-site.xml"):
                archive.write(file, file.name)
        (folder / "built").replace(jar)
