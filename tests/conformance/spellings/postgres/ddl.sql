-- Declarations of PostgreSQL. What names no place is completed by WITH.

-- name: types of columns
CREATE TABLE kinds (
  a BIGINT PRIMARY KEY, b INTEGER, c INT4, d INT8, e SMALLINT, f INT2, g REAL, h FLOAT4, i DOUBLE PRECISION, j FLOAT8,
  k NUMERIC(10, 2), l BOOLEAN, m BOOL, n TEXT, o VARCHAR, p VARCHAR(20), q CHARACTER VARYING(20), r BYTEA, s DATE,
  t TIMESTAMPTZ)
WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE TABLE kinds (
  a BIGINT PRIMARY KEY, b INT, c INT, d BIGINT, e SMALLINT, f SMALLINT, g FLOAT, h FLOAT, i DOUBLE, j DOUBLE,
  k DECIMAL(10, 2), l BOOLEAN, m BOOLEAN, n STRING, o STRING, p STRING, q STRING, r BINARY, s DATE,
  t TIMESTAMP)
WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: long names of times
CREATE TABLE kinds (a INT PRIMARY KEY, b TIMESTAMP WITH TIME ZONE, c TIMESTAMP WITHOUT TIME ZONE, d TIMESTAMP(6))
WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE TABLE kinds (a INT PRIMARY KEY, b TIMESTAMP, c TIMESTAMP, d TIMESTAMP)
WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: CHAR pads
-- CHAR(n) of PostgreSQL fills with spaces; here it is a STRING of any length.
CREATE TABLE kinds (a INT PRIMARY KEY, b CHAR(3), c CHARACTER(3)) WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE TABLE kinds (a INT PRIMARY KEY, b STRING, c STRING) WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: an array type
CREATE TABLE kinds (a INT PRIMARY KEY, b TEXT[], c INT ARRAY) WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE TABLE kinds (a INT PRIMARY KEY, b ARRAY<STRING>, c ARRAY<INT>)
WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: a numeric without digits
-- NUMERIC of PostgreSQL has any number of digits. Here it is DECIMAL(10, 0), as in Spark and Flink.
CREATE TABLE kinds (a INT PRIMARY KEY, b NUMERIC) WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE TABLE kinds (a INT PRIMARY KEY, b DECIMAL(10, 0)) WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: SERIAL
CREATE TABLE kinds (id SERIAL PRIMARY KEY, name TEXT) WITH (connector = 'files', path = 'kinds', format = 'json');
-- refused: S011

-- name: BIGSERIAL
CREATE TABLE kinds (id BIGSERIAL PRIMARY KEY, name TEXT) WITH (connector = 'files', path = 'kinds', format = 'json');
-- refused: S011

-- name: UUID
CREATE TABLE kinds (id UUID PRIMARY KEY, name TEXT) WITH (connector = 'files', path = 'kinds', format = 'json');
-- refused: S011

-- name: JSONB
CREATE TABLE kinds (id INT PRIMARY KEY, data JSONB) WITH (connector = 'files', path = 'kinds', format = 'json');
-- refused: S011

-- name: an identity
CREATE TABLE kinds (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT)
WITH (connector = 'files', path = 'kinds', format = 'json');
-- refused: B002

-- name: a primary key behind the columns
CREATE TABLE stock (shop INT, item TEXT, pieces INT, PRIMARY KEY (shop, item))
WITH (connector = 'files', path = 'stock', format = 'json');
-- same as
CREATE TABLE stock (shop INT PRIMARY KEY, item STRING PRIMARY KEY, pieces INT)
WITH (connector = 'files', path = 'stock', format = 'json');

-- name: a default
CREATE TABLE kinds (id BIGINT PRIMARY KEY, visits INT DEFAULT 0) WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE TABLE kinds (id BIGINT PRIMARY KEY, visits INT DEFAULT 0) WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: NOT NULL of the key
-- A key is never NULL.
CREATE TABLE kinds (id BIGINT NOT NULL PRIMARY KEY, name TEXT) WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE TABLE kinds (id BIGINT PRIMARY KEY, name STRING) WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: NOT NULL of another column
CREATE TABLE kinds (id BIGINT PRIMARY KEY, name TEXT NOT NULL) WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE TABLE kinds (id BIGINT PRIMARY KEY, name STRING NOT NULL) WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: NULL of a column
CREATE TABLE kinds (id BIGINT PRIMARY KEY, name TEXT NULL) WITH (connector = 'files', path = 'kinds', format = 'json');
-- same as
CREATE TABLE kinds (id BIGINT PRIMARY KEY, name STRING) WITH (connector = 'files', path = 'kinds', format = 'json');

-- name: UNIQUE
CREATE TABLE kinds (id BIGINT PRIMARY KEY, name TEXT UNIQUE) WITH (connector = 'files', path = 'kinds', format = 'json');
-- refused: B002

-- name: CHECK
CREATE TABLE kinds (id BIGINT PRIMARY KEY, n INT CHECK (n > 0)) WITH (connector = 'files', path = 'kinds', format = 'json');
-- refused: B002

-- name: REFERENCES
CREATE TABLE kinds (id BIGINT PRIMARY KEY, user_id BIGINT REFERENCES users (user_id))
WITH (connector = 'files', path = 'kinds', format = 'json');
-- refused: B002

-- name: a table without a place
CREATE TABLE people (id BIGINT PRIMARY KEY, name TEXT);
-- refused: C008

-- name: CREATE TABLE IF NOT EXISTS
CREATE TABLE IF NOT EXISTS users (id BIGINT PRIMARY KEY) WITH (connector = 'files', path = 'other', format = 'json');
-- same as
CREATE TABLE IF NOT EXISTS users (id BIGINT PRIMARY KEY) WITH (connector = 'files', path = 'other', format = 'json');

-- name: CREATE OR REPLACE VIEW
CREATE OR REPLACE VIEW large AS SELECT order_id FROM orders WHERE amount > 100;
-- same as
CREATE OR REPLACE VIEW large AS SELECT order_id FROM orders WHERE amount > 100;

-- name: a view with names of columns
CREATE VIEW large (id) AS SELECT order_id FROM orders WHERE amount > 100;
-- same as
CREATE VIEW large AS SELECT order_id AS id FROM orders WHERE amount > 100;

-- name: DROP VIEW IF EXISTS
DROP VIEW IF EXISTS no_such_view;
-- same as
DROP VIEW IF EXISTS no_such_view;

-- name: DROP TABLE CASCADE
DROP TABLE users CASCADE;
-- refused: S001

-- name: COMMENT ON
COMMENT ON TABLE users IS 'who buys';
-- refused: S001

-- name: CREATE INDEX
CREATE INDEX by_region ON users (region);
-- refused: S001

-- name: ALTER TABLE
ALTER TABLE users ADD COLUMN age INT;
-- refused: S001

-- name: INSERT ON CONFLICT
INSERT INTO customers SELECT STREAM user_id, product, currency FROM orders ON CONFLICT (id) DO NOTHING;
-- refused: S001

-- name: BEGIN and COMMIT
BEGIN;
-- refused: S001
