"""A schema registry on this machine, as far as its REST API is used here.

It keeps schemas of Avro by Confluent's rules: a number for each schema, versions by subject, and a new version reads
records of the one before. Apache's own library of Avro compares them.
"""

from __future__ import annotations

import base64
import json
import re
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import avro.schema
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType


class RegistryServer:
    """The schemas, and what the server does with requests."""

    def __init__(self, users: dict[str, str] | None = None) -> None:
        self.users = users
        self.schemas: list[dict[str, Any]] = []
        self.subjects: dict[str, list[int]] = {}
        self.requests: list[str] = []
        self.failures: list[tuple[int, dict[str, str]]] = []
        """Answers that come before all others: a status and headers."""
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def add(self, subject: str, schema: Any, kind: str = "AVRO", references: tuple[Any, ...] = ()) -> int:
        """Puts a schema there without comparing it. Returns its number."""
        text = schema if isinstance(schema, str) else json.dumps(schema)
        more = {} if kind == "AVRO" else {"schemaType": kind}
        entry = {"schema": text, **more, **({"references": [*references]} if references else {})}
        if entry not in self.schemas:
            self.schemas.append(entry)
        number = self.schemas.index(entry) + 1
        versions = self.subjects.setdefault(subject, [])
        if number not in versions:
            versions.append(number)
        return number

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """The status and the answer to a request."""
        if found := re.fullmatch(r"/schemas/ids/(\d+)", path):
            number = int(found[1])
            known = 0 < number <= len(self.schemas)
            return (200, self.schemas[number - 1]) if known else _refuse(404, 40403, "Schema not found")
        if found := re.fullmatch(r"/subjects/([^/]+)/versions(?:/(latest|\d+))?", path):
            subject, version = urllib.parse.unquote(found[1]), found[2]
            versions = self.subjects.get(subject, [])
            if method == "POST":
                return self._register(subject, body)
            if not versions:
                return _refuse(404, 40401, f"Subject '{subject}' not found.")
            place = len(versions) if version == "latest" else int(version)
            if place > len(versions):
                return _refuse(404, 40402, "Version not found.")
            number = versions[place - 1]
            return 200, {"subject": subject, "version": place, "id": number, **self.schemas[number - 1]}
        if method == "POST" and (found := re.fullmatch(r"/subjects/([^/]+)", path)):
            subject = urllib.parse.unquote(found[1])
            for number in self.subjects.get(subject, []):
                if json.loads(self.schemas[number - 1]["schema"]) == json.loads(body["schema"]):
                    version = self.subjects[subject].index(number) + 1
                    return 200, {"subject": subject, "version": version, "id": number, **self.schemas[number - 1]}
            return _refuse(404, 40403, "Schema not found")
        return 404, "<html>not here</html>"

    def _register(self, subject: str, body: Any) -> tuple[int, Any]:
        try:
            reader = avro.schema.parse(body["schema"])
        except avro.errors.AvroException as error:
            return _refuse(422, 42201, f"Invalid schema: {error}")
        versions = self.subjects.get(subject, [])
        if versions:
            writer = avro.schema.parse(self.schemas[versions[-1] - 1]["schema"])
            checker: Any = ReaderWriterCompatibilityChecker
            found = checker().get_compatibility(reader, writer)
            if found.compatibility is not SchemaCompatibilityType.compatible:
                told = "; ".join(map(str, found.messages))
                return _refuse(409, 409, f"Schema being registered is incompatible with an earlier schema: {told}")
        return 200, {"id": self.add(subject, body["schema"], references=tuple(body.get("references") or ()))}


def _refuse(status: int, code: int, message: str) -> tuple[int, Any]:
    return status, {"error_code": code, "message": message}


@contextmanager
def run_registry(users: dict[str, str] | None = None, port: int = 0) -> Iterator[RegistryServer]:
    """A registry that runs. `users`: their passwords, if it asks for them. `port`: 0 for any free one."""
    registry = RegistryServer(users)
    with serve(registry, port):
        yield registry


@contextmanager
def serve(registry: RegistryServer, port: int = 0) -> Iterator[None]:
    """Lets the registry answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Any) -> None:
            path = self.path.partition("?")[0]
            registry.requests.append(f"{self.command} {path}")
            headers: dict[str, str] = {}
            if registry.failures:
                status, headers = registry.failures.pop(0)
                given: Any = "not now"
            elif not self._is_known():
                status, given = _refuse(401, 401, "Unauthorized")
            else:
                status, given = registry.answer(self.command, path, body)
            text = (given if isinstance(given, str) else json.dumps(given)).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(text))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def _is_known(self) -> bool:
            if registry.users is None:
                return True
            given = self.headers.get("Authorization", "").removeprefix("Basic ")
            user, _, password = base64.b64decode(given).decode().partition(":")
            return bool(given) and registry.users.get(user) == password

        def log_message(self, format: str, *args: Any) -> None:
            """Prints nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    registry.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
