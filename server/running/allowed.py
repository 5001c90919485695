"""What statements may reach from a server: connectors, folders, hosts and secrets that were allowed at its start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
from psycopg import conninfo

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.serving import V003
from penstock.planner.catalog import Catalog, Declared, Derived
from penstock.planner.connectors import INTERNAL, RATE
from penstock.planner.plan import Options, SecretOption

HARMLESS = {"host", "hostaddr", "port", "dbname", "user", "sslmode", "connect_timeout", "application_name", "options"}
"""The parts of an address that statements may give. Others name files, or services of the server's user."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a server allows. Nothing else is reached for a user.

    paths: folders that files and databases may be in. connectors: the names of connectors. hosts: of databases.
    secrets: variables of the environment, and files, that passwords may be read from.
    """

    paths: tuple[str, ...] = ()
    connectors: tuple[str, ...] = (RATE.name,)
    hosts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()

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
            elif name == "url" and isinstance(value, str):
                yield from self._find_outside_host(value, span)

    def _find_outside_host(self, url: str, span: Span) -> Iterator[Diagnostic]:
        try:
            outside = [host for host in list_hosts(url) if host not in self.hosts]
        except ValueError:
            yield V003.at(span, "", what="the address", place=url).with_hint("postgresql://user@host:5432/database")
            return
        if outside and outside[0]:
            found = V003.at(span, "", what="the host", place=outside[0])
            yield found.with_hint(f"start the server with --allow-host {outside[0]}")
        elif outside:
            yield V003.at(span, "", what="the host", place="a socket of this machine").with_hint("name a host")

    def _is_below(self, path: str) -> bool:
        """Whether a path is inside of an allowed folder, links resolved. Paths with a scheme are compared as text."""
        if "://" in path or path.startswith("file:"):
            return ".." not in path and any(path.startswith(each.rstrip("/") + "/") for each in self.paths)
        real = os.path.realpath(path)
        return any(os.path.commonpath([real, os.path.realpath(each)]) == os.path.realpath(each) for each in self.paths)


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
