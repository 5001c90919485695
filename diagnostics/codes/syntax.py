"""S: the text is not a statement of the dialect."""

from penstock.diagnostics.diagnostic import Code

UNEXPECTED = Code("S001", "unexpected {found}")
UNEXPECTED_END = Code("S002", "the statement ends too early")
UNTERMINATED_STRING = Code("S003", "string without a closing quote")
UNTERMINATED_COMMENT = Code("S004", "comment without a closing */")
UNTERMINATED_NAME = Code("S005", "quoted name without a closing {quote}")
UNKNOWN_CHARACTER = Code("S006", "unknown character {character}")
MALFORMED_NUMBER = Code("S007", "malformed number {number}")
ORDER_BY = Code("S008", "ORDER BY on a query that never ends")
LIMIT = Code("S009", "LIMIT on a query that never ends")
UNION_DISTINCT = Code("S010", "UNION without ALL")
UNKNOWN_TYPE = Code("S011", "unknown type {name}")
CLAUSE_TWICE = Code("S012", "{clause} is given twice")
CLAUSE_ORDER = Code("S013", "{clause} stands behind {other}")
NOT_AN_INTERVAL = Code("S014", "{found} is not an interval")
UNKNOWN_TABLE_FUNCTION = Code("S015", "{name} is not a function that gives a relation")
TABLE_FUNCTION_ARGUMENTS = Code("S016", "wrong arguments of {name}")
LAMBDA_PARAMETER = Code("S017", "a parameter of a lambda is not a plain name")
SUBQUERY_ARGUMENT = Code("S018", "subquery as an argument of {name}")
CAST_SYNTAX = Code("S019", "AS inside a call of {name}")
STAR_PLACE = Code("S020", ".* behind something that is not the name of a relation")
TYPE_PARAMETERS = Code("S021", "wrong parameters of type {name}")
EMPTY_NAME = Code("S022", "empty name")
WATERMARK_TWICE = Code("S023", "two watermarks in one statement")
PARTITION_COUNT = Code("S024", "{number} is not a number of partitions")

CODES = (
    UNEXPECTED,
    UNEXPECTED_END,
    UNTERMINATED_STRING,
    UNTERMINATED_COMMENT,
    UNTERMINATED_NAME,
    UNKNOWN_CHARACTER,
    MALFORMED_NUMBER,
    ORDER_BY,
    LIMIT,
    UNION_DISTINCT,
    UNKNOWN_TYPE,
    CLAUSE_TWICE,
    CLAUSE_ORDER,
    NOT_AN_INTERVAL,
    UNKNOWN_TABLE_FUNCTION,
    TABLE_FUNCTION_ARGUMENTS,
    LAMBDA_PARAMETER,
    SUBQUERY_ARGUMENT,
    CAST_SYNTAX,
    STAR_PLACE,
    TYPE_PARAMETERS,
    EMPTY_NAME,
    WATERMARK_TWICE,
    PARTITION_COUNT,
)
