"""A slip in a script is found by a small test: each of these passes with the script, and fails with the slip."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.penstock.testing.shop import run_one

RIGHT = """
CREATE STREAM views (user STRING, page STRING, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL 10 SECONDS)
WITH (connector = 'files', path = 'views', format = 'json');
CREATE STREAM clicks (user STRING, ad INT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL 10 SECONDS)
WITH (connector = 'files', path = 'clicks', format = 'json');

CREATE STREAM followed AS
SELECT STREAM v.user AS user, v.page AS page, c.ad AS ad
FROM views v LEFT JOIN clicks c ON v.user = c.user AND c.time BETWEEN v.time AND v.time + INTERVAL 5 MINUTES;

CREATE STREAM per_hour AS
SELECT STREAM window_start, COUNT(*) AS views, COUNT(*) FILTER (WHERE page <> 'home') AS others,
  COUNT(DISTINCT user) AS users
FROM views WHERE user IS NOT NULL GROUP BY TUMBLE(time, INTERVAL 1 HOUR);

CREATE STREAM sessions AS
SELECT STREAM user, window_start, window_end, COUNT(*) AS n
FROM views GROUP BY user, SESSION(time, INTERVAL 10 MINUTES);

CREATE TABLE pages AS SELECT page, COUNT(*) AS n FROM views GROUP BY page HAVING COUNT(*) > 1;

CREATE STREAM before AS
SELECT STREAM user, page, LAG(page) OVER (PARTITION BY user ORDER BY time) AS earlier FROM views;
"""
FOLLOWED = """
GIVEN views VALUES ('ann', 'home', '0:00'), ('bob', 'shop', '0:00'), (NULL, 'home', '0:00');
GIVEN clicks VALUES ('ann', 1, '5:00'), ('bob', 2, '5:00.001'), (NULL, 3, '0:00');
GIVEN END;
THEN followed VALUES ('ann', 'home', 1), ('bob', 'shop', NULL), (NULL, 'home', NULL);
"""
PER_HOUR = """
GIVEN views VALUES ('ann', 'home', '0:00'), ('ann', 'shop', '59:59'), (NULL, 'home', '0:00');
GIVEN views VALUES ('bob', 'home', '1:00:00');
GIVEN END;
THEN per_hour VALUES ('0:00', 2, 1, 1), ('1:00:00', 1, 0, 1);
"""
SESSIONS = """
GIVEN views VALUES ('ann', 'home', '0:00'), ('ann', 'shop', '10:00'), ('bob', 'shop', '5:00');
GIVEN END;
THEN sessions VALUES ('ann', '0:00', '20:00', 2), ('bob', '5:00', '15:00', 1);
"""
PAGES = """
GIVEN views (page, time) VALUES ('home', '0:00'), ('home', '0:00'), ('shop', '0:00');
THEN pages VALUES ('home', 2);
"""
BEFORE = """
GIVEN views VALUES ('ann', 'shop', '0:02'), ('ann', 'home', '0:01'), ('bob', 'home', '0:03');
GIVEN END;
THEN before VALUES ('ann', 'home', NULL), ('ann', 'shop', 'home'), ('bob', 'home', NULL);
"""
SLIPS = [
    ("the bound is a second short", FOLLOWED, "v.time + INTERVAL 5 MINUTES", "v.time + INTERVAL 299 SECONDS"),
    ("the bound is open", FOLLOWED, "c.time BETWEEN v.time AND v.time + INTERVAL 5 MINUTES",
     "c.time >= v.time AND c.time < v.time + INTERVAL 5 MINUTES"),
    ("the bound is a second long", FOLLOWED, "v.time + INTERVAL 5 MINUTES", "v.time + INTERVAL 301 SECONDS"),
    ("LEFT is INNER", FOLLOWED, "LEFT JOIN", "JOIN"),
    ("LEFT is RIGHT", FOLLOWED, "LEFT JOIN", "RIGHT JOIN"),
    ("the key is lost", FOLLOWED, "v.user = c.user AND", "SUBSTRING(v.user, 2, 0) = SUBSTRING(c.user, 2, 0) AND"),
    ("the window is shorter", PER_HOUR, "INTERVAL 1 HOUR", "INTERVAL 59 MINUTES"),
    ("the window is longer", PER_HOUR, "INTERVAL 1 HOUR", "INTERVAL 2 HOURS"),
    ("the filter is lost", PER_HOUR, " FILTER (WHERE page <> 'home')", ""),
    ("DISTINCT is lost", PER_HOUR, "DISTINCT user", "user"),
    ("WHERE is lost", PER_HOUR, "WHERE user IS NOT NULL ", ""),
    ("the gap is shorter", SESSIONS, "INTERVAL 10 MINUTES", "INTERVAL 9 MINUTES"),
    ("HAVING has another bound", PAGES, "> 1", ">= 1"),
    ("HAVING is lost", PAGES, " HAVING COUNT(*) > 1", ""),
    ("the partition is lost", BEFORE, "PARTITION BY user ORDER", "PARTITION BY page ORDER"),
    ("LAG is over another column", BEFORE, "LAG(page)", "LAG(user)"),
]  # fmt: skip


@pytest.mark.parametrize(("test", "right", "wrong"), [slip[1:] for slip in SLIPS], ids=[slip[0] for slip in SLIPS])
def test_a_slip_is_found(test: str, right: str, wrong: str, tmp_path: Path) -> None:
    assert RIGHT.count(right) >= 1
    assert run_one(tmp_path, test, RIGHT) == []
    found = run_one(tmp_path, test, RIGHT.replace(right, wrong))
    assert found == ["T110"], found
