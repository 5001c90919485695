// What pgjdbc does with the server that PGHOST and the other variables of libpq name: JdbcProbes PART OPTIONS.

import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

public class JdbcProbes {
    static final String RUN = "SELECT line FROM penstock.run(?)";
    static String options;

    public static void main(String[] arguments) throws Exception {
        options = arguments[1];
        if (arguments[0].equals("looks")) {
            looks();
        } else {
            try (Connection connection = connect()) {
                probe(connection, "autocommit");
                probeErrors(connection);
                probePrepared(connection);
                if (!options.equals("preferQueryMode=simple")) {
                    probeDescriptions(connection);
                }
            }
            try (Connection connection = connect()) {
                connection.setAutoCommit(false);
                probe(connection, "transaction");
                probeTransaction(connection);
            }
            probeSessions();
        }
    }

    static Connection connect() throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", System.getenv("PGUSER"));
        properties.setProperty("password", System.getenv("PGPASSWORD"));
        String address = System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
        String mode = System.getenv("PGSSLMODE");
        return DriverManager.getConnection("jdbc:postgresql://" + address + "?sslmode=" + mode + "&" + options, properties);
    }

    /** What has to work with autocommit and without. */
    static void probe(Connection connection, String kind) throws Exception {
        try (Statement statement = connection.createStatement()) {
            report(kind + ": rows", rows(statement.executeQuery("SHOW STREAMS")));
            report(kind + ": columns", columns(statement.executeQuery("SHOW STREAMS").getMetaData()));
            report(kind + ": plan", rows(statement.executeQuery("EXPLAIN PLAN SELECT 1")));
            report(kind + ": execute", List.of(statement.execute("CREATE STREAM a"), statement.getUpdateCount()));
            report(kind + ": executeUpdate", statement.executeUpdate("/* tool: x */ CREATE STREAM b"));
            report(kind + ": comment", rows(statement.executeQuery("-- a comment\nSHOW STREAMS")));
            report(kind + ": run", rows(statement.executeQuery("SELECT line FROM penstock.run('EXPLAIN PLAN x')")));
            statement.setMaxRows(1);
            int own = rows(statement.executeQuery("SHOW STREAMS")).size();
            report(kind + ": most rows", List.of(own, rows(statement.executeQuery("SELECT 1 UNION SELECT 2")).size()));
            statement.setMaxRows(0);
            statement.setFetchSize(1);
            report(kind + ": fetched one by one", rows(statement.executeQuery("SHOW STREAMS")));
            report(kind + ": run, fetched", rows(statement.executeQuery("SELECT line FROM penstock.run('EXPLAIN PLAN x')")));
            statement.setQueryTimeout(20);
            report(kind + ": with a timeout", rows(statement.executeQuery("SHOW STREAMS")));
            statement.addBatch("CREATE STREAM a");
            statement.addBatch("DROP STREAM a");
            report(kind + ": batch", Arrays.stream(statement.executeBatch()).boxed().toList());
        }
        try (PreparedStatement statement = connection.prepareStatement(RUN)) {
            List<Object> found = null;
            for (int at = 0; at < 7; at++) {
                statement.setString(1, "EXPLAIN PLAN x");
                found = rows(statement.executeQuery());
            }
            report(kind + ": run with a parameter", found);
        }
        try (PreparedStatement statement = connection.prepareStatement("SHOW STREAMS")) {
            List<Object> found = null;
            for (int at = 0; at < 7; at++) {
                found = rows(statement.executeQuery());
            }
            report(kind + ": prepared", found);
        }
        try (Statement statement = connection.createStatement()) {
            boolean first = statement.execute("CREATE STREAM a; SHOW STREAMS");
            boolean second = statement.getMoreResults();
            report(kind + ": several", List.of(first, second, rows(statement.getResultSet())));
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE t WITH (connector = 'memory') AS SELECT 1");
            report(kind + ": warning", statement.getWarnings().getMessage());
        }
    }

    static void probeErrors(Connection connection) throws Exception {
        report("error", fault(connection, "\n CREATE STREAM bad"));
        report("error of run", fault(connection, "SELECT * FROM penstock.run('CREATE STREAM bad')"));
        report("mixed", fault(connection, "SELECT 1; CREATE STREAM a"));
        report("stream", fault(connection, "SELECT STREAM * FROM clicks"));
        try (PreparedStatement statement = connection.prepareStatement("CREATE STREAM a AS SELECT STREAM ? FROM clicks")) {
            statement.setString(1, "it's");
            report("parameter", List.of(statement.execute()));
        } catch (PSQLException error) {
            report("parameter", List.of(error.getSQLState(), error.getServerErrorMessage().getMessage()));
        }
        try (Statement statement = connection.createStatement()) {
            Thread thread = new Thread(() -> cancel(statement));
            thread.start();
            try {
                statement.execute("PAUSE QUERY slow");
            } catch (SQLException error) {
                report("cancel", error.getSQLState());
            }
            thread.join();
            statement.setQueryTimeout(1);
            try {
                statement.execute("PAUSE QUERY slow");
            } catch (SQLException error) {
                report("timeout", error.getSQLState());
            }
            report("after it", rows(statement.executeQuery("SHOW STREAMS")));
        }
    }

    static void cancel(Statement statement) {
        try {
            Thread.sleep(500);
            statement.cancel();
        } catch (InterruptedException | SQLException error) {
            throw new RuntimeException(error);
        }
    }

    static void probePrepared(Connection connection) throws Exception {
        try (PreparedStatement statement = connection.prepareStatement(RUN)) {
            for (String name : List.of("c", "d")) {
                statement.setString(1, "CREATE STREAM " + name);
                statement.execute();
            }
            report("run of several", statement.getUpdateCount());
        }
        StringWriter text = new StringWriter();
        String copy = "COPY (SELECT * FROM penstock.run('EXPLAIN PLAN x')) TO STDOUT";
        connection.unwrap(PGConnection.class).getCopyAPI().copyOut(copy, text);
        report("copy", text.toString());
    }

    /** What a driver asks of a statement before it runs. The simple protocol has no messages for that. */
    static void probeDescriptions(Connection connection) throws Exception {
        try (PreparedStatement statement = connection.prepareStatement(RUN + " WHERE line <> ?")) {
            ParameterMetaData found = statement.getParameterMetaData();
            List<Object> types = new ArrayList<>();
            for (int at = 1; at <= found.getParameterCount(); at++) {
                types.add(found.getParameterTypeName(at));
            }
            report("types of parameters", types);
            report("columns before it runs", columns(statement.getMetaData()));
        }
        try (PreparedStatement statement = connection.prepareStatement("SHOW STREAMS")) {
            report("no parameters", statement.getParameterMetaData().getParameterCount());
            report("columns of SHOW", columns(statement.getMetaData()));
        }
    }

    static void probeTransaction(Connection connection) throws Exception {
        connection.rollback();
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TEMP TABLE own (a int)");
            Savepoint savepoint = connection.setSavepoint("s");
            report("error in a transaction", fault(connection, "CREATE STREAM bad"));
            connection.rollback(savepoint);
            report("behind it", rows(statement.executeQuery("SHOW STREAMS")));
            connection.rollback();
            report("rolled back", rows(statement.executeQuery("SELECT to_regclass('own')")));
            connection.commit();
        }
    }

    static void probeSessions() throws Exception {
        try (Connection connection = connect(); Statement statement = connection.createStatement()) {
            connection.setReadOnly(true);
            connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            connection.setAutoCommit(false);
            report("read-only", rows(statement.executeQuery("SHOW STREAMS")));
            report("run, read-only", rows(statement.executeQuery("SELECT line FROM penstock.run('CREATE STREAM a')")));
            connection.commit();
            report("valid", connection.isValid(5));
        }
    }

    static void looks() throws Exception {
        try (Connection connection = connect()) {
            DatabaseMetaData data = connection.getMetaData();
            report("product", List.of(data.getDatabaseProductName(), data.getDatabaseProductVersion(), data.getSQLKeywords()));
            report("functions", List.of(data.getNumericFunctions(), data.getStringFunctions(), data.getTimeDateFunctions()));
            report("names", List.of(data.getMaxColumnNameLength(), data.getMaxConnections(), data.getUserName()));
            report("schemas", rows(data.getSchemas()));
            report("catalogs", rows(data.getCatalogs()));
            report("kinds of tables", rows(data.getTableTypes()));
            report("tables", rows(data.getTables(null, null, "%", new String[] {"TABLE", "VIEW", "PARTITIONED TABLE"})));
            report("all tables of alice", rows(data.getTables(null, "alice", "%", null)));
            report("columns", rows(data.getColumns(null, "alice", "%", "%")));
            report("primary keys", rows(data.getPrimaryKeys(null, "alice", "orders")));
            report("imported keys", rows(data.getImportedKeys(null, "alice", "orders")));
            report("exported keys", rows(data.getExportedKeys(null, "public", "revenue")));
            report("cross reference", rows(data.getCrossReference(null, "public", "revenue", null, "alice", "orders")));
            report("indexes", rows(data.getIndexInfo(null, "alice", "orders", false, true)));
            report("best row id", rows(data.getBestRowIdentifier(null, "alice", "orders", 0, true)));
            report("versions", rows(data.getVersionColumns(null, "alice", "orders")));
            report("procedures", rows(data.getProcedures(null, "alice", "%")));
            report("their columns", rows(data.getProcedureColumns(null, "alice", "%", "%")));
            report("functions of penstock", rows(data.getFunctions(null, "penstock", "%")));
            report("columns of functions", rows(data.getFunctionColumns(null, "alice", "%", "%")));
            report("types", rows(data.getTypeInfo()));
            report("types of users", rows(data.getUDTs(null, "alice", "%", null)));
            report("rights", rows(data.getTablePrivileges(null, "alice", "%")));
            report("rights of columns", rows(data.getColumnPrivileges(null, "alice", "orders", "%")));
            report("client info", rows(data.getClientInfoProperties()));
            try (Statement statement = connection.createStatement()) {
                for (String text : List.of("SELECT * FROM alice.orders", "TABLE revenue", "SHOW timezone", "TABLE alice.large")) {
                    ResultSet found = statement.executeQuery(text);
                    report(text, List.of(columns(found.getMetaData()), rows(found)));
                }
                ResultSet found = statement.executeQuery("SELECT tags, ARRAY[discount] FROM alice.orders WHERE tags <> '{}'");
                found.next();
                report("arrays", List.of(found.getArray(1).toString(), found.getArray(2).getBaseTypeName()));
            }
        }
    }

    static List<Object> fault(Connection connection, String text) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(text);
            return List.of("no error");
        } catch (PSQLException error) {
            ServerErrorMessage found = error.getServerErrorMessage();
            return Arrays.asList(found.getSQLState(), found.getMessage(), found.getHint(), found.getPosition());
        }
    }

    static List<Object> columns(ResultSetMetaData data) throws SQLException {
        List<Object> found = new ArrayList<>();
        for (int at = 1; at <= data.getColumnCount(); at++) {
            found.add(data.getColumnLabel(at));
            found.add(data.getColumnTypeName(at));
            found.add(data.getColumnClassName(at));
            found.add(data.isNullable(at));
            found.add(data.isAutoIncrement(at));
            found.add(data.getPrecision(at));
        }
        return found;
    }

    static List<Object> rows(ResultSet set) throws SQLException {
        List<Object> found = new ArrayList<>();
        while (set.next()) {
            List<Object> row = new ArrayList<>();
            for (int at = 1; at <= set.getMetaData().getColumnCount(); at++) {
                row.add(set.getString(at));
            }
            found.add(row);
        }
        set.close();
        return found;
    }

    static void report(String name, Object value) {
        System.out.println("[" + json(name) + ", " + json(value) + "]");
    }

    static String json(Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            return String.valueOf(value);
        }
        if (value instanceof List<?> items) {
            return "[" + String.join(", ", items.stream().map(JdbcProbes::json).toList()) + "]";
        }
        StringBuilder text = new StringBuilder("\"");
        for (char each : value.toString().toCharArray()) {
            boolean plain = each >= ' ' && each < 127 && each != '"' && each != '\\';
            text.append(plain ? String.valueOf(each) : String.format("\\u%04x", (int) each));
        }
        return text.append('"').toString();
    }
}
