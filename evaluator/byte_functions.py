"""Functions of bytes: digests, encodings and addresses. A text stands for its bytes in UTF-8."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Callable
from urllib.parse import quote_plus, unquote_plus

from penstock.diagnostics.codes.running import R025
from penstock.evaluator.number_functions import LONG
from penstock.evaluator.typed_values import QueryFailure, Unsupported, Value

LONGEST = 57
"""The bytes of a line of base 64."""
PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def bytes_of(value: Value) -> bytes:
    """The bytes of a text, or of BINARY."""
    return value.encode() if isinstance(value, str) else bytes(value)


def _hexadecimal(value: Value) -> str:
    return f"{value & LONG:X}" if isinstance(value, int) else bytes_of(value).hex().upper()


def _in_base_64(value: Value) -> str:
    if len(bytes_of(value)) > LONGEST:
        raise Unsupported(f"BASE64 of more than {LONGEST} bytes")
    return base64.b64encode(bytes_of(value)).decode()


def _digest_2(value: Value, bits: int) -> str | None:
    digests = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}
    return hashlib.new(digests[bits], bytes_of(value)).hexdigest() if bits in digests else None


def check_charset(charset: str) -> None:
    """Raises Unsupported for all but UTF-8."""
    if charset.upper() != "UTF-8":
        raise Unsupported(f"the character set {charset}")


def _encoded(text: str, charset: str) -> bytes:
    check_charset(charset)
    return text.encode()


def _decoded(value: bytes, charset: str) -> str:
    check_charset(charset)
    return value.decode()  # what is no UTF-8 is not known here


def _to_binary(text: str, form: str = "hex") -> bytes:
    match form.lower():
        case "utf-8" | "utf8":
            return text.encode()
        case "hex" if len(text) % 2 == 0:
            if re.fullmatch("[0-9A-Fa-f]*", text) is None:
                raise QueryFailure(f"{text!r} is not hexadecimal", R025)
            return bytes.fromhex(text)
        case "base64":
            return _from_base_64(text)
        case _:
            raise Unsupported(f"TO_BINARY({text!r}, {form!r})")


def _tried_binary(text: str, form: str = "hex") -> bytes | None:
    try:
        return _to_binary(text, form)
    except QueryFailure:
        return None


def _from_base_64(text: str) -> bytes:
    if base64.b64encode(decoded := base64.b64decode(text, validate=True)).decode() != text:
        raise Unsupported("a text in base 64 that is not canonical")
    return decoded


def _from_url(text: str) -> str:
    if PERCENT.search(text):
        raise QueryFailure(f"{text!r} is from no URL", R025)
    return unquote_plus(text, errors="strict")


def _tried_from_url(text: str) -> str | None:
    try:
        return _from_url(text)
    except QueryFailure:
        return None


BYTES: dict[str, Callable[..., Value]] = {
    "HEX": _hexadecimal,
    "UNHEX": lambda text: _to_binary(text) if re.fullmatch("([0-9A-Fa-f]{2})*", text) else _to_binary("", "unknown"),
    "BASE64": _in_base_64,
    "UNBASE64": _from_base_64,
    "TO_BASE32": lambda value: base64.b32encode(value).decode(),
    "FROM_BASE32": lambda text: base64.b32decode(text),
    "CRC32": lambda value: zlib.crc32(bytes_of(value)),
    "MD5": lambda value: hashlib.md5(bytes_of(value), usedforsecurity=False).hexdigest(),
    "SHA": lambda value: hashlib.sha1(bytes_of(value), usedforsecurity=False).hexdigest(),
    "SHA1": lambda value: hashlib.sha1(bytes_of(value), usedforsecurity=False).hexdigest(),
    "SHA2": _digest_2,
    "ENCODE": _encoded,
    "DECODE": _decoded,
    "TO_BINARY": _to_binary,
    "TRY_TO_BINARY": _tried_binary,
    "BITMAP_COUNT": lambda value: sum(each.bit_count() for each in value),
    "URL_ENCODE": lambda text: quote_plus(text, safe="*").replace("~", "%7E"),
    "URL_DECODE": _from_url,
    "TRY_URL_DECODE": _tried_from_url,
}
