-- Topics of ksqlDB, and the statements of its shell.

-- name: CREATE STREAM pv (viewtime BIGINT, userid VARCHAR KEY, pagei
CREATE STREAM pv (viewtime BIGINT, userid VARCHAR KEY, pageid VARCHAR) WITH (KAFKA_TOPIC = 'pv', VALUE_FORMAT = 'JSON', TIMESTAMP = 'viewtime');
-- refused: C008, WITH (connector = 'kafka', topic = 'pv', bootstrap_servers =

-- name: CREATE STREAM pv (viewtime BIGINT, userid VARCHAR KEY, pagei 2
CREATE STREAM pv (viewtime BIGINT, userid VARCHAR KEY, pageid VARCHAR) WITH (kafka_topic='pv', value_format='avro', partitions=3, replicas=1, retention_ms=86400000);
-- refused: C008, WITH (connector = 'kafka', topic = 'pv', bootstrap_servers =

-- name: CREATE OR REPLACE STREAM pv (id INT) WITH (kafka_topic='pv',
CREATE OR REPLACE STREAM pv (id INT) WITH (kafka_topic='pv', format='json');
-- refused: C008, WITH (connector = 'kafka', topic = 'pv', bootstrap_servers =

-- name: CREATE STREAM IF NOT EXISTS pv (id INT) WITH (kafka_topic='p
CREATE STREAM IF NOT EXISTS pv (id INT) WITH (kafka_topic='pv', format='json');
-- refused: C008, WITH (connector = 'kafka', topic = 'pv', bootstrap_servers =

-- name: CREATE SOURCE STREAM pv (id INT) WITH (kafka_topic='pv', for
CREATE SOURCE STREAM pv (id INT) WITH (kafka_topic='pv', format='json');
-- refused: S001, CREATE STREAM pv: every declared stream is read as it is

-- name: CREATE SOURCE TABLE pv (id INT PRIMARY KEY) WITH (kafka_topi
CREATE SOURCE TABLE pv (id INT PRIMARY KEY) WITH (kafka_topic='pv', format='json');
-- refused: S001, CREATE TABLE pv: every declared table is read as it is

-- name: CREATE OR REPLACE SOURCE TABLE pv (id INT PRIMARY KEY) WITH
CREATE OR REPLACE SOURCE TABLE pv (id INT PRIMARY KEY) WITH (kafka_topic='pv', format='json');
-- refused: S001, CREATE TABLE pv: every declared table is read as it is

-- name: CREATE STREAM pv WITH (KAFKA_TOPIC='pv', VALUE_FORMAT='AVRO'
CREATE STREAM pv WITH (KAFKA_TOPIC='pv', VALUE_FORMAT='AVRO');
-- refused: S002, the columns stand in the script, and penstock describe prints them:

-- name: CREATE TABLE users2 WITH (KAFKA_TOPIC='users', VALUE_FORMAT=
CREATE TABLE users2 WITH (KAFKA_TOPIC='users', VALUE_FORMAT='AVRO', KEY_FORMAT='KAFKA');
-- refused: S002, the columns stand in the script, and penstock describe prints them:

-- name: CREATE TABLE users2 (id BIGINT PRIMARY KEY) WITH (KAFKA_TOPI
CREATE TABLE users2 (id BIGINT PRIMARY KEY) WITH (KAFKA_TOPIC='users', VALUE_FORMAT='PROTOBUF');
-- refused: C008, WITH (connector = 'kafka', topic = 'users', bootstrap_servers =

-- name: CREATE STREAM s (k STRUCT<a INT, b VARCHAR> KEY, v ARRAY<STR
CREATE STREAM s (k STRUCT<a INT, b VARCHAR> KEY, v ARRAY<STRUCT<x INT>>) WITH (kafka_topic='s', format='JSON');
-- refused: C008, WITH (connector = 'kafka', topic = 's', bootstrap_servers =

-- name: CREATE STREAM s (id BIGINT KEY, h ARRAY<STRUCT<key STRING, v
CREATE STREAM s (id BIGINT KEY, h ARRAY<STRUCT<key STRING, value BYTES>> HEADERS) WITH (kafka_topic='s', format='JSON');
-- refused: B002, headers ARRAY<STRUCT<key STRING, value BINARY>> METADATA VIRTUAL, a

-- name: CREATE STREAM s (id BIGINT KEY, h BYTES HEADER('x')) WITH (k
CREATE STREAM s (id BIGINT KEY, h BYTES HEADER('x')) WITH (kafka_topic='s', format='JSON');
-- refused: B002, headers ARRAY<STRUCT<key STRING, value BINARY>> METADATA VIRTUAL, a

-- name: CREATE STREAM s (`from` STRING, `to` STRING, `group` STRING)
CREATE STREAM s (`from` STRING, `to` STRING, `group` STRING) WITH (kafka_topic='s', format='JSON');
-- refused: C008, WITH (connector = 'kafka', topic = 's', bootstrap_servers =

-- name: CREATE STREAM s (ROWKEY STRING KEY, v INT) WITH (kafka_topic
CREATE STREAM s (ROWKEY STRING KEY, v INT) WITH (kafka_topic='s', value_format='JSON');
-- refused: C008, WITH (connector = 'kafka', topic = 's', bootstrap_servers =

-- name: CREATE STREAM s (v INT) WITH (kafka_topic='s', value_format=
CREATE STREAM s (v INT) WITH (kafka_topic='s', value_format='JSON', TIMESTAMP='ts', TIMESTAMP_FORMAT='yyyy-MM-dd''T''HH:mm:ss');
-- refused: C008, WITH (connector = 'kafka', topic = 's', bootstrap_servers =

-- name: CREATE STREAM s (v INT) WITH (kafka_topic='s', value_format= 2
CREATE STREAM s (v INT) WITH (kafka_topic='s', value_format='JSON', WRAP_SINGLE_VALUE=false);
-- refused: C008, WITH (connector = 'kafka', topic = 's', bootstrap_servers =

-- name: CREATE STREAM s (v INT) WITH (kafka_topic='s', value_format= 3
CREATE STREAM s (v INT) WITH (kafka_topic='s', value_format='KAFKA');
-- refused: C008, WITH (connector = 'kafka', topic = 's', bootstrap_servers =

-- name: CREATE STREAM s (v INT) WITH (kafka_topic='s', value_format= 4
CREATE STREAM s (v INT) WITH (kafka_topic='s', value_format='JSON_SR', VALUE_SCHEMA_FULL_NAME='x', KEY_SCHEMA_ID=2);
-- refused: C008, WITH (connector = 'kafka', topic = 's', bootstrap_servers =

-- name: CREATE STREAM s (v INT, price DECIMAL(4,2), d DATE, t TIME,
CREATE STREAM s (v INT, price DECIMAL(4,2), d DATE, t TIME, ts TIMESTAMP, b BYTES, bb BOOLEAN, dd DOUBLE) WITH (kafka_topic='s', value_format='JSON');
-- refused: C008, WITH (connector = 'kafka', topic = 's', bootstrap_servers =

-- name: CREATE STREAM s (v INT HEADERS) WITH (kafka_topic='s', value
CREATE STREAM s (v INT HEADERS) WITH (kafka_topic='s', value_format='JSON');
-- refused: B002, headers ARRAY<STRUCT<key STRING, value BINARY>> METADATA VIRTUAL, a

-- name: CREATE TABLE t (id INT PRIMARY KEY, name STRING) WITH (kafka
CREATE TABLE t (id INT PRIMARY KEY, name STRING) WITH (kafka_topic='t', value_format='JSON', window_type='HOPPING', window_size='10 MINUTES');
-- refused: C008, WITH (connector = 'kafka', topic = 't', bootstrap_servers =

-- name: CREATE TABLE t (id INT KEY, name STRING) WITH (kafka_topic='
CREATE TABLE t (id INT KEY, name STRING) WITH (kafka_topic='t', value_format='JSON');
-- refused: K007, write PRIMARY KEY

-- name: CREATE STREAM t (id INT PRIMARY KEY, name STRING) WITH (kafk
CREATE STREAM t (id INT PRIMARY KEY, name STRING) WITH (kafka_topic='t', value_format='JSON');
-- refused: K007, write KEY

-- name: CREATE STREAM s2 WITH (kafka_topic='x', value_format='avro',
CREATE STREAM s2 WITH (kafka_topic='x', value_format='avro', partitions=4) AS SELECT * FROM orders EMIT CHANGES;
-- refused: C008, WITH (connector = 'kafka', topic = 'x', bootstrap_servers =

-- name: CREATE STREAM s2 WITH (timestamp='order_time') AS SELECT * F
CREATE STREAM s2 WITH (timestamp='order_time') AS SELECT * FROM orders EMIT CHANGES;
-- refused: C008, WITH (connector = 'kafka', topic = 's2', bootstrap_servers =

-- name: CREATE STREAM s2 WITH (timestamp='order_time', timestamp_for
CREATE STREAM s2 WITH (timestamp='order_time', timestamp_format='yyyy') AS SELECT * FROM orders;
-- refused: C008, WITH (connector = 'kafka', topic = 's2', bootstrap_servers =

-- name: CREATE STREAM s2 WITH (value_format='avro') AS SELECT * FROM
CREATE STREAM s2 WITH (value_format='avro') AS SELECT * FROM orders;
-- refused: C008, WITH (connector = 'kafka', topic = 's2', bootstrap_servers =

-- name: CREATE STREAM s2 WITH (KEY_FORMAT='JSON', VALUE_DELIMITER='T
CREATE STREAM s2 WITH (KEY_FORMAT='JSON', VALUE_DELIMITER='TAB') AS SELECT * FROM orders;
-- refused: C008, WITH (connector = 'kafka', topic = 's2', bootstrap_servers =

-- name: CREATE TABLE t2 WITH (PARTITIONS=1, REPLICAS=1) AS SELECT us
CREATE TABLE t2 WITH (PARTITIONS=1, REPLICAS=1) AS SELECT user_id, COUNT(*) AS n FROM orders GROUP BY user_id;
-- refused: C008, WITH (connector = 'kafka', topic = 't2', bootstrap_servers =

-- name: CREATE TABLE t2 WITH (RETENTION_MS=1000) AS SELECT user_id,
CREATE TABLE t2 WITH (RETENTION_MS=1000) AS SELECT user_id, COUNT(*) AS n FROM orders GROUP BY user_id;
-- refused: C008, WITH (connector = 'kafka', topic = 't2', bootstrap_servers =

-- name: TERMINATE CSAS_S2_3
TERMINATE CSAS_S2_3;
-- refused: S001, DROP QUERY CSAS_S2_3, or Ctrl-C, ends a query

-- name: TERMINATE QUERY CSAS_S2_3
TERMINATE QUERY CSAS_S2_3;
-- refused: S001, DROP QUERY CSAS_S2_3, or Ctrl-C, ends a query

-- name: PAUSE CSAS_S2_3
PAUSE CSAS_S2_3;
-- refused: S001, PAUSE QUERY CSAS_S2_3

-- name: RESUME CSAS_S2_3
RESUME CSAS_S2_3;
-- refused: S001, RESUME QUERY CSAS_S2_3

-- name: PRINT orders
PRINT orders;
-- refused: S001, SELECT STREAM * FROM orders shows the rows of a stream

-- name: PRINT 'orders' FROM BEGINNING INTERVAL 5 LIMIT 10
PRINT 'orders' FROM BEGINNING INTERVAL 5 LIMIT 10;
-- refused: S001, SELECT STREAM * FROM a stream of that topic shows its rows

-- name: PRINT orders LIMIT 3
PRINT orders LIMIT 3;
-- refused: S001, SELECT STREAM * FROM orders shows the rows of a stream

-- name: LIST TOPICS EXTENDED
LIST TOPICS EXTENDED;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW QUERIES and SHOW

-- name: SHOW ALL TOPICS
SHOW ALL TOPICS;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW QUERIES and SHOW

-- name: LIST STREAMS EXTENDED
LIST STREAMS EXTENDED;
-- refused: S001, leave it out: SHOW prints all it knows

-- name: SHOW TABLES EXTENDED
SHOW TABLES EXTENDED;
-- refused: S001, leave it out: SHOW prints all it knows

-- name: LIST QUERIES
LIST QUERIES;
-- same as
SHOW QUERIES;

-- name: LIST FUNCTIONS
LIST FUNCTIONS;
-- same as
SHOW FUNCTIONS;

-- name: LIST TYPES
LIST TYPES;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW QUERIES and SHOW

-- name: LIST CONNECTORS
LIST CONNECTORS;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW QUERIES and SHOW

-- name: SHOW SOURCE CONNECTORS
SHOW SOURCE CONNECTORS;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW QUERIES and SHOW

-- name: SHOW CONNECTOR PLUGINS
SHOW CONNECTOR PLUGINS;
-- refused: S001, SHOW STREAMS, SHOW TABLES, SHOW VIEWS, SHOW QUERIES and SHOW

-- name: DESCRIBE EXTENDED orders
DESCRIBE EXTENDED orders;
-- same as
DESCRIBE orders;

-- name: DESCRIBE FUNCTION COUNT
DESCRIBE FUNCTION COUNT;
-- refused: S001, docs/functions.md describes each function; SHOW FUNCTIONS names them

-- name: DESCRIBE CONNECTOR c
DESCRIBE CONNECTOR c;
-- refused: S001, the options of a CREATE STREAM or TABLE say where its rows are;

-- name: EXPLAIN CTAS_X_1
EXPLAIN CTAS_X_1;
-- refused: S001, EXPLAIN PLAN, STATE, PHYSICAL, PARTITIONS, SPARK, CODE or AST before a

-- name: DEFINE replicas = '3'
DEFINE replicas = '3';
-- refused: S001, the shell that calls penstock has variables

-- name: UNDEFINE replicas
UNDEFINE replicas;
-- refused: S001, the shell that calls penstock has variables

-- name: SET 'processing.guarantee' = 'exactly_once_v2'
SET 'processing.guarantee' = 'exactly_once_v2';
-- refused: C007, delivery = 'exactly_once' in the WITH list of a topic that is written

-- name: RUN SCRIPT 'x.sql'
RUN SCRIPT 'x.sql';
-- refused: S001, penstock takes several files: penstock run a.sql b.sql

-- name: CREATE TYPE ADDRESS AS STRUCT<number INTEGER, street VARCHAR
CREATE TYPE ADDRESS AS STRUCT<number INTEGER, street VARCHAR>;
-- refused: S001, write the type where it is used: STRUCT<a: INT, b: STRING>

-- name: CREATE TYPE IF NOT EXISTS ADDRESS AS STRUCT<number INTEGER,
CREATE TYPE IF NOT EXISTS ADDRESS AS STRUCT<number INTEGER, street VARCHAR>;
-- refused: S001, write the type where it is used: STRUCT<a: INT, b: STRING>

-- name: DROP TYPE ADDRESS
DROP TYPE ADDRESS;
-- refused: S001, types have no names of their own

-- name: DROP TYPE IF EXISTS ADDRESS
DROP TYPE IF EXISTS ADDRESS;
-- refused: S001, types have no names of their own

-- name: CREATE SOURCE CONNECTOR `jdbc` WITH('connector.class'='io.co
CREATE SOURCE CONNECTOR `jdbc` WITH('connector.class'='io.confluent.connect.jdbc.JdbcSourceConnector', 'topic.prefix'='jdbc-');
-- refused: S001, the options of a CREATE STREAM or TABLE say where its rows are;

-- name: CREATE SINK CONNECTOR IF NOT EXISTS x WITH('connector.class'
CREATE SINK CONNECTOR IF NOT EXISTS x WITH('connector.class'='y');
-- refused: S001, INSERT INTO with a SELECT writes rows to what CREATE STREAM or CREATE

-- name: DROP CONNECTOR IF EXISTS x
DROP CONNECTOR IF EXISTS x;
-- refused: S001, DROP STREAM, DROP TABLE, DROP VIEW and DROP QUERY take out what a

-- name: DROP STREAM IF EXISTS orders DELETE TOPIC
DROP STREAM IF EXISTS orders DELETE TOPIC;
-- refused: S001, leave it out: DROP forgets the declaration, and the rows stay

-- name: DROP TABLE users DELETE TOPIC
DROP TABLE users DELETE TOPIC;
-- refused: S001, leave it out: DROP forgets the declaration, and the rows stay

-- name: ALTER STREAM orders ADD COLUMN c INT
ALTER STREAM orders ADD COLUMN c INT;
-- refused: S001, change the declaration in the script; docs/semantics/script-changes.md says which

-- name: ALTER TABLE users ADD c INT, ADD d STRING
ALTER TABLE users ADD c INT, ADD d STRING;
-- refused: S001, change the declaration in the script; docs/semantics/script-changes.md says which

-- name: ALTER SYSTEM 'ksql.x'='y'
ALTER SYSTEM 'ksql.x'='y';
-- refused: S001, change the declaration in the script; docs/semantics/script-changes.md says which

-- name: ASSERT TOPIC foo WITH (partitions=3) TIMEOUT 5 SECONDS
ASSERT TOPIC foo WITH (partitions=3) TIMEOUT 5 SECONDS;
-- refused: S001, `penstock check` judges a script, and `penstock query` prints the

-- name: ASSERT SCHEMA ID 3
ASSERT SCHEMA ID 3;
-- refused: S001, `penstock check` judges a script, and `penstock query` prints the

-- name: ASSERT NOT EXISTS SCHEMA SUBJECT 'x'
ASSERT NOT EXISTS SCHEMA SUBJECT 'x';
-- refused: S001, `penstock check` judges a script, and `penstock query` prints the

-- name: ASSERT STREAM foo (id INT) WITH (kafka_topic='x', value_form
ASSERT STREAM foo (id INT) WITH (kafka_topic='x', value_format='JSON');
-- refused: S001, `penstock check` judges a script, and `penstock query` prints the

-- name: ASSERT TABLE foo (id INT PRIMARY KEY) WITH (kafka_topic='x',
ASSERT TABLE foo (id INT PRIMARY KEY) WITH (kafka_topic='x', value_format='JSON');
-- refused: S001, `penstock check` judges a script, and `penstock query` prints the

-- name: ASSERT VALUES foo (id) VALUES (1)
ASSERT VALUES foo (id) VALUES (1);
-- refused: S001, `penstock check` judges a script, and `penstock query` prints the

-- name: ASSERT NULL VALUES foo (id) KEY (1)
ASSERT NULL VALUES foo (id) KEY (1);
-- refused: S001, `penstock check` judges a script, and `penstock query` prints the

-- name: INSERT INTO orders VALUES (1, 2, 'a', 1.0, 'EUR', 1, '2020-0
INSERT INTO orders VALUES (1, 2, 'a', 1.0, 'EUR', 1, '2020-01-01T00:00:00');
-- refused: K024, write the rows into a file in the folder of orders, and queries read

-- name: INSERT INTO alerts (ROWTIME, user_id) VALUES (1234, 1)
INSERT INTO alerts (ROWTIME, user_id) VALUES (1234, 1);
-- refused: K024, write the rows into a file in the folder of alerts, and queries read

-- name: INSERT INTO alerts (user_id, product, amount) VALUES (1, 'a'
INSERT INTO alerts (user_id, product, amount) VALUES (1, 'a', 2.0);
-- refused: K024, write the rows into a file in the folder of alerts, and queries read

-- name: INSERT INTO user_totals (user_id, total) VALUES (1, 2.0)
INSERT INTO user_totals (user_id, total) VALUES (1, 2.0);
-- refused: K024, write the rows into a file in the folder of user_totals, and queries

-- name: INSERT INTO alerts WITH (QUERY_ID='x') SELECT user_id, produ
INSERT INTO alerts WITH (QUERY_ID='x') SELECT user_id, product, amount FROM orders;
-- refused: S001, leave it out: a query has the name of what it writes; SHOW QUERIES

-- name: SPOOL 'x'
SPOOL 'x';
-- refused: S001, penstock query prints the rows of a table; the shell writes them to a

-- name: SPOOL OFF
SPOOL OFF;
-- refused: S001, penstock query prints the rows of a table; the shell writes them to a

-- name: HELP
HELP;
-- refused: S001, docs/sql.md has the whole language

-- name: EXIT
EXIT;
-- refused: S001, leave it out: a script ends where its text ends

-- name: CLEAR
CLEAR;
-- refused: S001, leave it out: nothing is maintained by hand

-- name: OUTPUT JSON
OUTPUT JSON;
-- refused: S001, penstock query --format json prints rows as JSON

-- name: SERVER 'http://x'
SERVER 'http://x';
-- refused: S001, penstock.connect('http://host:port') gives a session with a server

-- name: VERSION
VERSION;
-- refused: S001, penstock --version prints it

-- name: HISTORY
HISTORY;
-- refused: S001, leave it out: a script is a file
