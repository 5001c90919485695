"""A schema registry -> schemas by their numbers. Python workers ask it, and so does the driver."""

from __future__ import annotations

import base64
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import Any

from penstock.kit.avro.avro_schemas import SchemaError
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.secret_refs import KnownSecret, SecretRef

TRIES = 8
"""How often a registry is asked that does not answer."""
PAUSE = 0.1
"""Seconds before the second try. Each pause is twice as long as the one before."""
SECONDS = 10
"""How long an answer may take."""
_LARGEST = 16_000_000
_MOST = 1_000
"""How many schemas one schema may name, directly and by others."""
_TYPE = "application/vnd.schemaregistry.v1+json"
_UNKNOWN = (40401, 40402, 40403)
"""What the registry says of a subject, a version or a number that it does not know. Other servers answer 404, too."""
_REFUSED, _BUSY = (409, 422), 429


class RegistryError(Exception):
    """The registry does not answer, or refuses to."""


class IncompatibleError(Exception):
    """The registry does not take a schema beside the schemas that it has."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A password is sent to no other address."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Registry:
    """Where a registry is, and who asks it. The password is read when it is needed."""

    url: str
    username: str | None = None
    password: SecretRef | KnownSecret | None = None

    def find_schema(self, number: int) -> list[Any] | None:
        """The schema of a number, behind the schemas that it names. None if the number is unknown.

        Raises:
            SchemaError: it is no schema of Avro.
            RegistryError: the registry cannot be asked.
        """
        answer = self._ask(f"schemas/ids/{number}")
        return None if answer is None else self._load(answer)

    def find_newest(self, subject: str) -> list[Any] | None:
        """The newest schema of a subject, behind the schemas that it names. None if there is none.

        Raises as `find_schema`.
        """
        answer = self._ask(f"subjects/{_quote(subject)}/versions/latest")
        return None if answer is None else self._load(answer)

    def register(self, subject: str, schema: Any) -> int:
        """The number of a schema, which the subject has from now on.

        Raises:
            IncompatibleError: the subject does not take it.
            RegistryError: the registry cannot be asked.
        """
        body = {"schema": json.dumps(schema, separators=(",", ":"))}
        answer = self._ask(f"subjects/{_quote(subject)}/versions", body)
        if not isinstance(answer, dict) or not isinstance(answer.get("id"), int):
            raise RegistryError(f"{self.url}: it gives no number for {subject}")
        return int(answer["id"])

    def _load(self, answer: Any) -> list[Any]:
        """The schema in an answer, behind the schemas that it names."""
        found: list[Any] = []
        asked: set[tuple[str, int]] = set()

        def load(given: Any) -> Any:
            if not isinstance(given, dict) or not isinstance(given.get("schema"), str):
                raise RegistryError(f"{self.url}: its answer has no schema")
            kind = given.get("schemaType") or "AVRO"
            if kind != "AVRO":
                raise SchemaError(f"it is {kind}, not Avro")
            for each in given.get("references") or ():
                place = (str(each["subject"]), int(each["version"]))
                if place in asked:
                    continue
                if len(asked) >= _MOST:
                    raise SchemaError(f"it names more than {_MOST} schemas")
                asked.add(place)
                named = self._ask(f"subjects/{_quote(place[0])}/versions/{place[1]}")
                if named is None:
                    raise SchemaError(f"it names {each.get('name')}, which the registry does not have")
                found.append(load(named))
            try:
                return json.loads(given["schema"])
            except ValueError:
                return given["schema"]  # the name of a type, as old registries give it

        try:
            schema = load(answer)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
            raise SchemaError("what it names cannot be found") from None
        return [*found, schema]

    def _ask(self, path: str, body: dict[str, str] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": _TYPE, "Content-Type": _TYPE, **self._authorize()}
        request = urllib.request.Request(f"{self.url.rstrip('/')}/{path}", data, headers)
        opener = urllib.request.build_opener(_NoRedirect)
        for attempt in range(TRIES):
            if attempt:
                time.sleep(PAUSE * 2 ** (attempt - 1))
            try:
                with opener.open(request, timeout=SECONDS) as answer:
                    return json.loads(answer.read(_LARGEST))
            except urllib.error.HTTPError as error:
                code, message = _explain(error)
                if body is None and code in _UNKNOWN:
                    return None
                if body is not None and error.code in _REFUSED:
                    raise IncompatibleError(message) from None
                reason = f"it answers {error.code} {message}"
                if error.code < 500 and error.code != _BUSY:
                    break
            except (OSError, ValueError, http.client.HTTPException) as error:
                reason = str(getattr(error, "reason", error)) or type(error).__name__
        raise RegistryError(f"{self.url}: {reason}")

    def _authorize(self) -> dict[str, str]:
        if self.username is None:
            return {}
        try:
            password = "" if self.password is None else self.password.read()
        except TableError as error:
            raise RegistryError(str(error)) from None
        user = base64.b64encode(f"{self.username}:{password}".encode()).decode()
        return {"Authorization": f"Basic {user}"}


def _quote(subject: str) -> str:
    return urllib.parse.quote(subject, safe="")


def _explain(error: urllib.error.HTTPError) -> tuple[int | None, str]:
    """The code of an error and what the registry says; no code of an answer that is not a registry's."""
    try:
        given = json.loads(error.read(_LARGEST))
        return int(given["error_code"]), " ".join(str(given["message"]).split())[:500]
    except (OSError, ValueError, LookupError, TypeError, http.client.HTTPException):
        return None, str(error.reason)
