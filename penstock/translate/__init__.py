"""Scripts of Flink SQL, ksqlDB and Spark SQL -> scripts of Penstock, and a report of what they mean otherwise."""

from penstock.translate.model import System, TranslatedStatement, Verdict
from penstock.translate.parts import comment_out
from penstock.translate.translate_script import translate

__all__ = ["System", "TranslatedStatement", "Verdict", "comment_out", "translate"]
