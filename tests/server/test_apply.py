"""`penstock serve --apply` with the example of docs/serve.md, as a process."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import psycopg
import pytest

from tests.house.files import ROOT
from tests.server.served import ServedProcess, wait_for

pytestmark = pytest.mark.spark
TOTALS = "SELECT product, total::text FROM totals ORDER BY product"


def read_example() -> tuple[str, str, list[str]]:
    """The script, the changed script, and what the server shows."""
    section = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8").split("## Changes\n")[1].split("\n## ")[0]
    before, after = re.findall(r"```sql\n(.*?)```", section, re.DOTALL)
    [shown] = re.findall(r"--apply orders.sql\n(.*?)…\n```", section, re.DOTALL)
    return before, after, shown.splitlines()


def write_orders(folder: Path, name: str, *orders: tuple[int, str, float]) -> None:
    folder.mkdir(exist_ok=True, parents=True)
    lines = [json.dumps({"id": number, "product": product, "price": price}) for number, product, price in orders]
    (folder / f".{name}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / f".{name}").rename(folder / name)


def test_the_example_of_the_page(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)  # PostgreSQL has a user of its own
    before, after, shown = read_example()
    orders, script = tmp_path / "orders", tmp_path / "orders.sql"
    write_orders(orders, "1.json", (1, "lamp", 20), (2, "pen", 0.5), (3, "desk", 300))

    def tell(text: str) -> None:
        script.write_text(text.replace("data/orders", str(orders)), encoding="utf-8")

    tell(before)
    with ServedProcess(tmp_path / "state", script) as served:
        with served.connect() as db:
            wait_for(lambda: db.execute("SELECT to_regclass('totals')").fetchone() != (None,))
            old = [("desk", "300.00"), ("lamp", "20.00"), ("pen", "0.50")]
            wait_for(lambda: db.execute(TOTALS).fetchall() == old)
            served.wait_until_ready()
        assert served.stop() == 0
    tell(after)
    with ServedProcess(tmp_path / "state", script) as served:
        assert served.process.wait(60) == 1
        served.find(r"(error\[K011\]: paid already exists)")
        served.find(r"(penstock serve --apply builds it beside the old one)")
    with ServedProcess(tmp_path / "state", "--apply", script) as served:
        served.wait_until_ready()
        begin = served.lines.index(f"apply       {script}")
        assert served.lines[begin + 1 : begin + len(shown)] == shown[1:]
        new = [("desk", "300.00"), ("lamp", "20.00")]
        with served.connect() as db:
            seen: set[tuple[tuple[str, str], ...]] = set()
            done = threading.Event()

            def read() -> None:
                with psycopg.connect(db.info.dsn, password=db.info.password, autocommit=True) as reader:
                    while not done.is_set():
                        seen.add(tuple(reader.execute(TOTALS).fetchall()))

            reader = threading.Thread(target=read)
            reader.start()
            try:
                wait_for(lambda: db.execute(TOTALS).fetchall() == new)
            finally:
                done.set()
                reader.join()
            assert seen <= {tuple(old), tuple(new)}
            assert len(wait_for(lambda: db.execute("SELECT * FROM dear").fetchall())) == 1
            assert len(db.execute("SELECT * FROM sales").fetchall()) == 3, "what is gone from the file stays"
            write_orders(orders, "2.json", (4, "lamp", 5), (5, "pen", 0.5))
            wait_for(lambda: db.execute(TOTALS).fetchall() == [("desk", "300.00"), ("lamp", "25.00")])
        assert served.stop() == 0
    with ServedProcess(tmp_path / "state", "--apply", script) as served:
        served.wait_until_ready()
        assert "  unchanged  4" in served.lines, "nothing is built twice"
        assert not any(line.startswith("  changed") for line in served.lines)
        assert served.stop() == 0
    assert "Traceback" not in (tmp_path / "state" / "engine.log").read_text(encoding="utf-8")
