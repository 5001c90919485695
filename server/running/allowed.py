"""What statements may reach from a server: connectors, folders, hosts and secrets that were allowed at its start."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import glob
from urllib.parse import urlsplit

import psycopg
from psycopg import conninfo

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.server import V003
from penstock.planner.catalog import Catalog, Declared, Derived
from penstock.planner.connectors import INTERNAL, RATE, connector_of
from penstock.planner.connectors.delta_place import read_storage_options
from penstock.planner.plan import Options, SecretOption

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
UNSAFE = re.compile(r"\\|\{[^}]*/|^//")
"""What Spark reads as another path than Python: an escaped character, braces over several folders, a leading host."""
LOOPBACK = {"", "localhost", "127.0.0.1", "::1"}
HARMLESS = {"host", "hostaddr", "port", "dbname", "user", "sslmode", "connect_timeout", "application_name", "options"}
"""The parts of an address that statements may give. Others name files, or services of the server's user."""

HARMLESS_IN_STORES = {"region", "aws_region", "azure_storage_account_name", "account_name"}
"""The settings of object stores that statements may give. Others name hosts, files, or users of the server."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a server allows. Nothing else is reached for a user.

    paths: folders that files and databases may be in. connectors: the names of connectors. hosts: the hosts of
    databases and brokers. secrets: variables of the environment, and files, that passwords may be read from. closed:
    folders of the server itself, which stay out of reach inside of the others, too. own_database: the address of its
    PostgreSQL.
    """

    paths: tuple[str, ...] = ()
    connectors: tuple[str, ...] = (RATE.name,)
    hosts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    own_database: str = ""

    def check(self, name: str, catalog: Catalog) -> None:
        """Raises CompileError for a relation whose place is out of reach."""
        entry = catalog.find(name)
        match entry:
            case Declared():
                findings = [*self._find_outside(entry.origin.connector, entry.origin.options, entry.span)]
            case Derived(sink=sink) if sink is not None and sink != catalog.home(entry.name, entry.node.shape):
                findings = [*self._find_outside(sink.connector, sink.options, entry.span)]
            case _:
                findings = []
        if findings:
            raise CompileError(findings)

    def _find_outside(self, connector: str, options: Options, span: Span) -> Iterator[Diagnostic]:
        if connector not in self.connectors or connector in {each.name for each in INTERNAL}:
            found = V003.at(span, "", what="the connector", place=connector)
            yield found.with_hint(f"start the server with --allow-connector {connector}")
            return
        for name, value in options:
            if isinstance(value, SecretOption) and value.name not in self.secrets:
                found = V003.at(span, "", what="the secret", place=str(value))
                yield found.with_hint(f"start the server with --allow-secret {value.name}")
            elif name == "path" and isinstance(value, str) and not self._is_below(value):
                found = V003.at(span, "", what="the path", place=value)
                yield found.with_hint(f"start the server with --allow-path {value}")
            elif name == "path" and isinstance(value, str) and self._reaches_closed(value):
                found = V003.at(span, "", what="the path", place=value)
                yield found.because("The server keeps its own files there.").with_hint("name a folder beside them")
            elif name == "storage_options":
                for setting in sorted((read_storage_options(str(value)) or {}).keys() - HARMLESS_IN_STORES):
                    found = V003.at(span, "", what="the setting of an object store", place=setting)
                    yield found.with_hint("set it in the environment of the server")
            elif name == "url" and isinstance(value, str):
                yield from self._find_outside_host(connector, value, span)
            elif name in ("bootstrap_servers", "schema_registry"):
                outside = [each for each in _list_servers(name, str(value)) if each not in self.hosts]
                if outside:
                    found = V003.at(span, "", what="the host", place=outside[0])
                    yield found.with_hint(f"start the server with --allow-host {outside[0]}")

    def _find_outside_host(self, connector: str, url: str, span: Span) -> Iterator[Diagnostic]:
        own = connector_of(connector).list_hosts
        try:
            outside = [host for host in (own or list_hosts)(url) if host not in self.hosts]
        except ValueError:
            hint = "postgresql://user@host:5432/database" if own is None else f"{connector}://user@host:port/database"
            yield V003.at(span, "", what="the address", place=url).with_hint(hint)
            return
        if outside and outside[0]:
            found = V003.at(span, "", what="the host", place=outside[0])
            yield found.with_hint(f"start the server with --allow-host {outside[0]}")
        elif outside:
            yield V003.at(span, "", what="the host", place="a socket of this machine").with_hint("name a host")
        elif own is None and self.own_database and is_same_database(url, self.own_database):
            found = V003.at(span, "", what="the database", place="the server's own database")
            yield found.with_hint("CREATE TABLE … AS makes tables there")

    def _is_below(self, path: str) -> bool:
        """Whether a path is inside of an allowed folder, links resolved. Paths with a scheme are compared as text."""
        if UNSAFE.search(path):
            return False
        if SCHEME.match(path):
            return ".." not in path and any(path.startswith(each.rstrip("/") + "/") for each in self.paths)
        if is_pattern(path) and ".." in path.split("/"):
            return False
        return all(
            any(is_inside(os.path.realpath(each), os.path.realpath(folder)) for folder in self.paths)
            for each in (path, *list_links(path))
        )

    def _reaches_closed(self, path: str) -> bool:
        """Whether a folder of the server is inside of the path, or around it. Spark reads folders with all below."""
        if SCHEME.match(path):
            if not path.startswith("file:"):
                return False
            path = "/" + path.removeprefix("file:").lstrip("/")
        given = [widen(each) for each in os.path.realpath(path).split("/")]
        folders = [os.path.realpath(each).split("/") for each in self.closed]
        return any(all(map(fnmatchcase, folder, given)) for folder in folders)  # as far as the shorter one goes


def _list_servers(option: str, value: str) -> list[str]:
    """The hosts of brokers, or the host of a registry."""
    if option == "bootstrap_servers":
        return re.findall(r"([^,]+):\d+", value)
    return [urlsplit(value).hostname or ""]


def is_pattern(path: str) -> bool:
    """Whether the path stands for several."""
    return re.search(r"[*?\[{]", path) is not None


def widen(part: str) -> str:
    """A part of a pattern as one without brackets and braces, which fits all that it fits, and more."""
    return re.sub(r"[\[{].*", "*", part)


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is the folder or below it. Both are absolute and have no links."""
    return os.path.commonpath([path, folder]) == folder


def list_links(pattern: str) -> Iterator[str]:
    """The links that a pattern may follow, in all folders that it goes through."""
    parts = pattern.split("/")
    first = next((place for place, each in enumerate(parts) if is_pattern(each)), len(parts))
    for end in range(first + 1, len(parts) + 1):
        yield from filter(os.path.islink, glob("/".join(map(widen, parts[:end])), include_hidden=True))


def is_same_database(url: str, own: str) -> bool:
    """Whether an address names the database of another one, by whatever name of this machine."""
    places = []
    for each in (url, own):
        given = conninfo.conninfo_to_dict(each)
        named = [str(given[name]) for name in ("host", "hostaddr") if given.get(name)]
        hosts = {host.lower() for value in named for host in value.split(",")} or {""}
        name = str(given.get("dbname") or given.get("user") or "")
        places.append((name, {"" if host in LOOPBACK or host.startswith(("/", "@")) else host for host in hosts}))
    (name, hosts), (own_name, own_hosts) = places
    return name == own_name and not hosts.isdisjoint(own_hosts)


def list_hosts(url: str) -> list[str]:
    """All hosts that an address of PostgreSQL names, as libpq reads it; an empty one is the socket of this machine.

    Raises ValueError for an address that libpq does not understand, or that names files of this machine.
    """
    try:
        given = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise ValueError(url) from None
    if not given.keys() <= HARMLESS:
        raise ValueError(url)
    named = [str(given[name]) for name in ("host", "hostaddr") if given.get(name)]
    hosts = [host.lower() for value in named for host in value.split(",")]
    return ["" if host.startswith(("/", "@")) else host for host in hosts] or [""]
