-- Customer profiles in PostgreSQL, kept up to date by a stream of visits to a shop, and looked up for orders.
--
--   python examples/profiles/demo.py                                     runs everything against a server of its own
--   penstock check examples/profiles/profiles.sql                        is it sound? (no Spark, no database needed)
--   penstock run --once --checkpoint state examples/profiles/profiles.sql
--
-- Paths are relative to the folder in which penstock is started. The tables are not Penstock's: schema.sql makes them, and
-- other programs may read and write them meanwhile. The url names no host and no user, so they come from the variables of
-- PostgreSQL's own programs: PGHOST, PGPORT, PGUSER. The password never stands in a script.

-- 1. What comes in -----------------------------------------------------------------------------------------------------

CREATE STREAM visits (
  customer BIGINT,
  name     STRING,
  city     STRING,                                   -- NULL: the customer did not say
  time     TIMESTAMP
) WITH (
  connector = 'files', path = 'examples/profiles/data/visits', format = 'json',
  files_per_batch = 1                                -- a file is a day, and a day is one transaction
);

CREATE STREAM orders (
  id       BIGINT KEY,
  customer BIGINT,
  product  STRING,
  time     TIMESTAMP
) WITH (
  connector = 'files', path = 'examples/profiles/data/orders', format = 'json'
);

-- Customers who want to be forgotten.

CREATE STREAM requests (
  customer BIGINT,
  time     TIMESTAMP
) WITH (
  connector = 'files', path = 'examples/profiles/data/requests', format = 'json', files_per_batch = 1
);

-- 2. What is kept ------------------------------------------------------------------------------------------------------
-- The declaration is compared with the table before the first row is read. The table has more columns than these: `notes`
-- is written by the people of the shop, and is never touched here.

CREATE TABLE profiles (
  customer BIGINT PRIMARY KEY,
  name     STRING,
  city     STRING,
  visits   BIGINT,
  first    TIMESTAMP,
  last     TIMESTAMP
) WITH (
  connector = 'postgres', url = 'postgresql:///shop', table = 'profiles', password = ENV('PROFILES_PASSWORD')
);

CREATE TABLE shipments (
  id      BIGINT PRIMARY KEY,
  product STRING,
  name    STRING,
  city    STRING
) WITH (
  connector = 'postgres', url = 'postgresql:///shop', table = 'shipments', password = ENV('PROFILES_PASSWORD')
);

-- 3. Visits ------------------------------------------------------------------------------------------------------------
-- An unqualified column on the left is set; profiles.visits on the right is the row as it is. Visits of one customer are
-- applied one after the other, in the order in which they stand in the files. A new customer begins with the row of ELSE
-- INSERT, to which the visit is then applied like any other: so it begins with 0 visits.

UPDATE profiles
SET name = v.name, city = COALESCE(v.city, profiles.city), visits = profiles.visits + 1, last = v.time
FROM STREAM visits AS v
WHERE profiles.customer = v.customer
ELSE INSERT (city, visits, first) VALUES (v.city, 0, v.time);

-- 4. Orders ------------------------------------------------------------------------------------------------------------
-- Each order meets the profile that the database has when a worker asks for it. Later changes of the profile send
-- nothing. The script writes the table, so it has no cache: `cache_ttl` would be refused. LEFT keeps the orders of customers
-- whom nobody knows.

INSERT INTO shipments
SELECT STREAM o.id, o.product, p.name, p.city
FROM orders AS o
LEFT JOIN profiles AS p ON p.customer = o.customer;

-- 5. Requests ----------------------------------------------------------------------------------------------------------
-- The three statements are three queries. With --once they run in this order; else none waits for another.

DELETE FROM profiles USING requests AS r WHERE profiles.customer = r.customer;
