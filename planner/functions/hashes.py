"""Digests, checksums and encodings."""

from __future__ import annotations

from sqlglot import exp

from penstock.planner.functions.facts import Failing, NullForm, RowFault
from penstock.planner.functions.function import Function
from penstock.planner.types import BINARY, Type


def _bytes_of_code(arguments: tuple[exp.Expression, ...], types: tuple[Type, ...]) -> Type | None:
    """BINARY, if the code is a literal that there is."""
    codes = ("hex", "utf-8", "utf8", "base64")
    named = [each for each in arguments[1:] if isinstance(each, exp.Literal) and each.name.lower() in codes]
    return BINARY if len(named) == len(arguments) - 1 else None


_CODES = ("(STRING) -> BINARY", "(STRING, STRING) -> BINARY")
_BYTES = "(BINARY) -> STRING", "(STRING) -> STRING"

HASHES = (
    Function("BASE64", _BYTES, "the bytes in base 64", ("BASE64('abc')", "YWJj")),
    Function(
        "CRC32", ("(BINARY) -> BIGINT", "(STRING) -> BIGINT"), "a checksum of the bytes", ("CRC32('abc')", 891568578)
    ),
    Function(
        "DECODE",
        ("(BINARY, CHARSET) -> STRING",),
        "bytes as text in a character set",
        ("DECODE(CAST('abc' AS BINARY), 'UTF-8')", "abc"),
        failing=Failing(),
        raises=(RowFault.CHARACTERS, RowFault.ARGUMENT),
    ),
    Function(
        "ENCODE",
        ("(STRING, CHARSET) -> BINARY",),
        "a text as bytes in a character set",
        ("ENCODE('abc', 'UTF-8')", b"abc"),
        failing=Failing(),
        raises=(RowFault.CHARACTERS, RowFault.ARGUMENT),
    ),
    Function(
        "FROM_BASE32",
        ("(STRING) -> BINARY",),
        "the bytes of a text in base 32",
        ("FROM_BASE32('MZXW6YTBOI======')", b"foobar"),
        since=(4, 3),
    ),
    Function(
        "BITMAP_BIT_POSITION",
        ("(BIGINT) -> BIGINT",),
        "the place of a number among the 32768 bits of its bucket",
        ("BITMAP_BIT_POSITION(123)", 122),
    ),
    Function(
        "BITMAP_BUCKET_NUMBER", ("(BIGINT) -> BIGINT",), "the bucket of a number", ("BITMAP_BUCKET_NUMBER(123)", 1)
    ),
    Function(
        "BITMAP_COUNT", ("(BINARY) -> BIGINT",), "how many bits are set", ("BITMAP_COUNT(CAST('a' AS BINARY))", 3)
    ),
    Function(
        "HASH", ("(ORDERED...) -> INT",), "a 32-bit hash (Murmur 3) of the arguments", ("HASH('Spark')", 228093765)
    ),
    Function("HEX", ("(BIGINT) -> STRING", *_BYTES), "in hexadecimal digits", ("HEX(255)", "FF")),
    Function("MD5", _BYTES, "the MD5 digest in hexadecimal digits", ("MD5('abc')", "900150983cd24fb0d6963f7d28e17f72")),
    Function("SHA", _BYTES, "the same as SHA1", ("SHA('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d")),
    Function(
        "SHA1",
        _BYTES,
        "the SHA-1 digest in hexadecimal digits",
        ("SHA1('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    ),
    Function(
        "SHA2",
        ("(BINARY, INT) -> STRING", "(STRING, INT) -> STRING"),
        "the SHA-2 digest of 224, 256, 384 or 512 bits",
        ("SHA2('abc', 256)", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ),
    Function(
        "TO_BASE32",
        ("(BINARY) -> STRING",),
        "the bytes in base 32",
        ("TO_BASE32(CAST('foobar' AS BINARY))", "MZXW6YTBOI======"),
        since=(4, 3),
    ),
    Function(
        "TO_BINARY",
        _CODES,
        "the bytes of a text in 'hex', 'utf-8' or 'base64'",
        ("TO_BINARY('616263', 'hex')", b"abc"),
        result=_bytes_of_code,
        failing=Failing(null_form=NullForm("TRY_TO_BINARY", "R025")),
        raises=(RowFault.ENCODED_TEXT,),
    ),
    Function(
        "TRY_TO_BINARY",
        _CODES,
        "as TO_BINARY, but NULL for a text that does not fit",
        ("TRY_TO_BINARY('zz', 'hex')", None),
        result=_bytes_of_code,
    ),
    Function(
        "UNBASE64",
        ("(STRING) -> BINARY",),
        "the bytes of a text in base 64",
        ("UNBASE64('YWJj')", b"abc"),
        failing=Failing(),
        raises=(RowFault.ENCODED_TEXT, RowFault.BASE64_TEXT),
    ),
    Function(
        "UNHEX",
        ("(STRING) -> BINARY",),
        "the bytes of hexadecimal digits",
        ("UNHEX('616263')", b"abc"),
        raises=(RowFault.ENCODED_TEXT,),
    ),
    Function(
        "URL_DECODE",
        ("(STRING) -> STRING",),
        "a text from a URL",
        ("URL_DECODE('a%20b')", "a b"),
        failing=Failing(null_form=NullForm("TRY_URL_DECODE", "R025")),
        raises=(RowFault.URL_TEXT,),
    ),
    Function("URL_ENCODE", ("(STRING) -> STRING",), "a text for a URL", ("URL_ENCODE('a b')", "a+b")),
    Function(
        "PARSE_URL",
        ("(STRING, STRING) -> STRING", "(STRING, STRING, STRING) -> STRING"),
        "the 'HOST', 'PATH', 'QUERY' and so on of a URL",
        ("PARSE_URL('http://a.org/p?q=1', 'QUERY', 'q')", "1"),
        failing=Failing(tried=("R025",)),
        raises=(RowFault.URL,),
    ),
    Function(
        "TRY_PARSE_URL",
        ("(STRING, STRING) -> STRING", "(STRING, STRING, STRING) -> STRING"),
        "as PARSE_URL, but NULL for a text that is no URL",
        ("TRY_PARSE_URL('http://a b', 'HOST')", None),
    ),
    Function(
        "TRY_URL_DECODE",
        ("(STRING) -> STRING",),
        "as URL_DECODE, but NULL for a text that is from no URL",
        ("TRY_URL_DECODE('100%')", None),
    ),
    Function(
        "XXHASH64",
        ("(ORDERED...) -> BIGINT",),
        "a 64-bit hash (xxHash) of the arguments",
        ("XXHASH64('Spark')", -4294468057691064905),
    ),
)
