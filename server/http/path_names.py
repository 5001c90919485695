"""Names in the paths of requests."""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor


class NameConvertor(Convertor[str]):
    """The name of a table or query. It may have slashes and lines, which other convertors end at."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        """The name as it is."""
        return value

    def to_string(self, value: str) -> str:
        """The same."""
        return value


register_url_convertor("name", NameConvertor())
