"""All databases, by the names of their connectors."""

from penstock.kit.databases.duckdb import DUCKDB
from penstock.kit.databases.engine import DatabaseEngine
from penstock.kit.databases.mysql import MYSQL
from penstock.kit.databases.postgres import POSTGRES
from penstock.kit.databases.sqlite import SQLITE

ENGINES: dict[str, DatabaseEngine] = {"postgres": POSTGRES, "mysql": MYSQL, "sqlite": SQLITE, "duckdb": DUCKDB}
