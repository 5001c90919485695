"""Functions of vectors, which are arrays of FLOAT. They are NULL if an element is NULL."""

from __future__ import annotations

from penstock.planner.functions.facts import Failing, RowFault
from penstock.planner.functions.function import Function


def _pair(name: str, doc: str, example: tuple[str, object]) -> Function:
    """A function of two vectors, which fails if they are not of one length."""
    signatures = ("(ARRAY<FLOAT>, ARRAY<FLOAT>) -> FLOAT",)
    return Function(name, signatures, doc, example, failing=Failing(), raises=(RowFault.ARGUMENT,))


VECTORS = (
    _pair(
        "VECTOR_COSINE_SIMILARITY",
        "the cosine of the angle between two vectors",
        ("VECTOR_COSINE_SIMILARITY(ARRAY(1, 0), ARRAY(0, 1))", 0.0),
    ),
    _pair(
        "VECTOR_INNER_PRODUCT",
        "the inner product of two vectors",
        ("VECTOR_INNER_PRODUCT(ARRAY(1, 2), ARRAY(3, 4))", 11.0),
    ),
    _pair(
        "VECTOR_L2_DISTANCE",
        "the Euclidean distance of two vectors",
        ("VECTOR_L2_DISTANCE(ARRAY(0, 0), ARRAY(3, 4))", 5.0),
    ),
    Function("VECTOR_NORM", ("(ARRAY<FLOAT>) -> FLOAT",), "the length of a vector", ("VECTOR_NORM(ARRAY(3, 4))", 5.0)),
    Function(
        "VECTOR_NORMALIZE",
        ("(ARRAY<FLOAT>) -> ARRAY<FLOAT>",),
        "the vector of length 1 in its direction; NULL for one of length 0",
        ("VECTOR_NORMALIZE(ARRAY(0, 4))", [0.0, 1.0]),
    ),
)
