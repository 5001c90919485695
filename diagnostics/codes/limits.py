"""L: the text is larger in some way than the compiler takes."""

from penstock.diagnostics.diagnostic import Code

L001 = Code("L001", "nested more than {limit} levels deep")
L002 = Code("L002", "{count} {what} in a row, at most {limit} are allowed")
L003 = Code("L003", "nested chains: more than {limit} levels deep in all")
L004 = Code("L004", "the plan has more than {limit} operators")
L005 = Code("L005", "{window} puts each row into {count} windows, at most {limit} are allowed")
L006 = Code("L006", "{function} makes {count} {things} for each row, at most {limit} are allowed")
L007 = Code("L007", "{name} is too large once the names in it are replaced: at most {limit} parts are allowed")
L008 = Code("L008", "the type of {name} has more than {limit}")

CODES = (L001, L002, L003, L004, L005, L006, L007, L008)
