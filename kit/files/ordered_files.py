"""A stream of files that are read in parts -> the same stream, in the order of times and paths.

Spark orders files by their times alone. Files of equal times come as the file system lists them, which is in no certain
order on local disks. A class of Java that extends Spark's source arranges what it lists. It is compiled by Janino, with
which Spark compiles queries, and lives in the driver alone.
"""

from functools import lru_cache
from threading import Lock
from typing import Any

from pyspark import SparkContext
from pyspark.sql import DataFrame

SOURCE = "org.apache.spark.sql.execution.streaming.runtime.FileStreamSource"
COMPILING = Lock()
DATA_SOURCE = "org.apache.spark.sql.execution.datasources.DataSource"
JAVA = """
package penstock;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.paths.SparkPath;
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap$;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.types.StructType;
import scala.Product;
import scala.collection.immutable.Map;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

public class OrderedFiles extends %(data_source)s {
  public OrderedFiles(Product from) {
    super(%(arguments)s);
  }

  public org.apache.spark.sql.execution.streaming.Source createSource(String metadataPath) {
    Map options = CaseInsensitiveMap$.MODULE$.apply(options());
    Product info = (Product) (Object) sourceInfo();
    return new Files(
      (org.apache.spark.sql.classic.SparkSession) sparkSession(), (String) options.apply("path"), className(),
      (StructType) info.productElement(1), (Seq) info.productElement(2), metadataPath, options);
  }

  public static class Files extends %(source)s {
    private boolean fixed = false;

    public Files(
        org.apache.spark.sql.classic.SparkSession session, String path, String format, StructType schema,
        Seq partitionColumns, String metadataPath, Map options) {
      super(session, path, format, schema, partitionColumns, metadataPath, options);
    }

    public synchronized Offset latestOffset(Offset start, ReadLimit limit) {
      Seq unread = (Seq) get("unreadFiles");
      if (fixed || (unread != null && unread.nonEmpty())) {
        return super.latestOffset(start, limit);
      }
      List found = arrange(list());
      List news = new ArrayList();
      for (Iterator each = found.iterator(); each.hasNext();) {
        Product file = (Product) each.next();
        if (seenFiles().isNewFile(pathOf(file), timeOf(file))) {
          news.add(file);
        }
      }
      if (news.isEmpty()) {
        set("allFilesForTriggerAvailableNow", Nil$.MODULE$);  // else the files are listed once more
      } else {
        set("unreadFiles", toSeq(news));
      }
      try {
        return super.latestOffset(start, limit);
      } finally {
        if (news.isEmpty()) {
          set("allFilesForTriggerAvailableNow", null);
        }
      }
    }

    public synchronized void prepareForTriggerAvailableNow() {
      set("allFilesForTriggerAvailableNow", toSeq(arrange(list())));
      fixed = true;
    }

    private List arrange(Seq files) {
      List arranged = new ArrayList(CollectionConverters.asJava(files));
      if (sourceHasMetadata().contains(Boolean.TRUE)) {
        return arranged;  // a query has written them, and its log has them in order
      }
      Collections.sort(arranged, new Comparator() {
        public int compare(Object left, Object right) {
          int order = Long.compare(timeOf((Product) left), timeOf((Product) right));
          return order != 0 ? order : Arrays.compareUnsigned(nameOf((Product) left), nameOf((Product) right));
        }
      });
      return arranged;
    }

    private static Seq toSeq(List files) {
      return CollectionConverters.asScala(files).toSeq();
    }

    private static SparkPath pathOf(Product file) {
      return (SparkPath) file.productElement(0);
    }

    private static byte[] nameOf(Product file) {
      return pathOf(file).urlEncoded().getBytes(StandardCharsets.UTF_8);
    }

    private static long timeOf(Product file) {
      return ((Long) file.productElement(file.productArity() - 1)).longValue();
    }

    private Seq list() {
      try {
        Method method = %(source)s.class.getDeclaredMethod("fetchAllFiles", new Class[0]);
        method.setAccessible(true);
        return (Seq) method.invoke(this, new Object[0]);
      } catch (InvocationTargetException thrown) {
        if (thrown.getCause() instanceof RuntimeException) {
          throw (RuntimeException) thrown.getCause();
        }
        throw new RuntimeException(thrown.getCause());
      } catch (ReflectiveOperationException thrown) {
        throw new IllegalStateException(thrown);
      }
    }

    private Object get(String name) {
      try {
        return field(name).get(this);
      } catch (ReflectiveOperationException thrown) {
        throw new IllegalStateException(thrown);
      }
    }

    private void set(String name, Object value) {
      try {
        field(name).set(this, value);
      } catch (ReflectiveOperationException thrown) {
        throw new IllegalStateException(thrown);
      }
    }

    private static Field field(String name) throws ReflectiveOperationException {
      Field field = %(source)s.class.getDeclaredField(name);
      field.setAccessible(true);
      return field;
    }
  }
}
"""


class OrderedReader:
    """Spark's reader of streams, for files in the order of times and paths."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def option(self, name: str, value: Any) -> "OrderedReader":
        return OrderedReader(self._reader.option(name, value))

    def options(self, **values: Any) -> "OrderedReader":
        return OrderedReader(self._reader.options(**values))

    def schema(self, schema: str) -> "OrderedReader":
        return OrderedReader(self._reader.schema(schema))

    def text(self, path: str) -> DataFrame:
        return order_files(self._reader.text(path))

    def csv(self, path: str) -> DataFrame:
        return order_files(self._reader.csv(path))

    def parquet(self, path: str) -> DataFrame:
        return order_files(self._reader.parquet(path))


def order_files(files: DataFrame) -> DataFrame:
    """The files that Spark's reader gives, in order. Nothing is selected from them yet."""
    relation: Any = files._jdf.queryExecution().analyzed()
    gateway, session = SparkContext._gateway, files.sparkSession
    jvm: Any = session._jvm
    parts = gateway.new_array(jvm.java.lang.Object, relation.productArity())  # type: ignore[union-attr]
    for place in range(relation.productArity()):
        parts[place] = relation.productElement(place)
    given = gateway.new_array(jvm.java.lang.Object, 1)  # type: ignore[union-attr]
    given[0] = relation.productElement(0)
    with COMPILING:  # queries start side by side
        ordered_source = compile_class(gateway)
    parts[0] = ordered_source.getConstructors()[0].newInstance(given)
    ordered = relation.makeCopy(parts)
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, ordered), session)


@lru_cache(maxsize=1)
def compile_class(gateway: Any) -> Any:
    """The class of Java in the JVM of a gateway. There is one: py4j mistakes classes of one name for each other."""
    jvm = gateway.jvm
    sources = jvm.java.lang.Class.forName(DATA_SOURCE)
    types = sources.getConstructors()[0].getParameterTypes()
    arguments = ", ".join(f"({each.getName()}) from.productElement({place})" for place, each in enumerate(types))
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(sources.getClassLoader())
    compiler.cook(JAVA % {"arguments": arguments, "source": SOURCE, "data_source": DATA_SOURCE})
    return compiler.getClassLoader().loadClass("penstock.OrderedFiles")
