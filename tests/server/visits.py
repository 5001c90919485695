"""Visits to a shop, and a script over them: what the console is tried with, and what its pictures show."""

from __future__ import annotations

import json
import math
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

HOURS = 72
PAGES = ("cart", "help", "home", "search")
CLOSED = range(30, 34)
"""Hours without any visit."""
UNHELPED = range(50, 59)
"""Hours in which nobody visits `help`."""
SCRIPT = """
CREATE STREAM visits (
  id BIGINT, page STRING, country STRING, seconds INT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE
) WITH (connector = 'files', path = '{folder}/visits', format = 'json');

CREATE TABLE hourly AS
SELECT window_start, window_end, page, COUNT(*) AS visits, SUM(seconds) AS seconds, COUNT(DISTINCT country) AS countries
FROM TUMBLE(visits, ts, INTERVAL '1' HOUR)
GROUP BY page, window_start, window_end
EMIT CHANGES;

CREATE VIEW long_visits AS SELECT STREAM id, page, country, seconds, ts FROM visits WHERE seconds > 240;

CREATE TABLE daily_countries AS
SELECT window_start, window_end, country, COUNT(*) AS visits
FROM TUMBLE(long_visits, ts, INTERVAL '1' DAY)
GROUP BY country, window_start, window_end
EMIT CHANGES;

CREATE STREAM help_wanted AS SELECT STREAM id, country, ts FROM long_visits WHERE page = 'help';

CREATE STREAM archive (id BIGINT, page STRING, ts TIMESTAMP)
WITH (connector = 'files', path = '{folder}/archive', format = 'json');

INSERT INTO archive SELECT STREAM id, page, ts FROM long_visits;
"""


class Visits:
    """A folder with the script and its input. Times end with the hour before the present one."""

    def __init__(self, folder: Path) -> None:
        self.script = folder / "shop.sql"
        self.script.write_text(SCRIPT.format(folder=folder), encoding="utf-8")
        (folder / "archive").mkdir()
        self._input = folder / "visits"
        self._input.mkdir()
        self._start = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS)
        self._files = self._ids = 0
        self._draw = random.Random(1)

    def write_days(self) -> None:
        """Three days with a rhythm, an hour without visits, and a page that is missing for a while."""
        lines = []
        for hour in range(HOURS):
            rhythm = 1.2 - math.cos(hour * math.pi / 12)
            for page, share in zip(PAGES, (4, 1, 9, 6), strict=True):
                if hour not in CLOSED and not (page == "help" and hour in UNHELPED):
                    lines += [
                        self._line(hour, page) for _ in range(1 + round(share * rhythm * self._draw.uniform(0.8, 1.2)))
                    ]
        self._write(lines)

    def write_more(self, page: str, count: int) -> None:
        """Visits in the last five minutes of the newest hour, which are not late."""
        self._write([self._line(HOURS - 1, page, since=3_300) for _ in range(count)])

    def write_odd(self) -> None:
        """Two rows that are late, and one that is malformed."""
        self._write([self._line(1, "cart"), self._line(2, "home"), '{"id": "none", "ts": 5'])

    def _line(self, hour: int, page: str, since: int = 0) -> str:
        """A visit in an hour, from a second of it on."""
        self._ids += 1
        time = self._start + timedelta(hours=hour, seconds=self._draw.randrange(since, 3_600))
        country = self._draw.choice(("DE", "FR", "PL", "SE"))
        row = {"id": self._ids, "page": page, "country": country, "seconds": self._draw.randrange(5, 300)}
        return json.dumps({**row, "ts": time.isoformat().replace("+00:00", "Z")})

    def _write(self, lines: list[str]) -> None:
        self._files += 1
        name = f"{self._files:03}.json"
        (self._input / f".{name}").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (self._input / f".{name}").rename(self._input / name)
