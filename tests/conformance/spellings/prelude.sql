-- What the statements of all systems read and write, in the spelling of Penstock.

CREATE STREAM bid (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, extra STRING, bidtime TIMESTAMP,
  WATERMARK FOR bidtime AS bidtime - INTERVAL '4' SECOND
) WITH (connector = 'files', path = 'bid', format = 'json');

CREATE STREAM orders (
  order_id BIGINT, user_id BIGINT, product STRING, amount DECIMAL(10, 2), currency STRING, quantity INT,
  order_time TIMESTAMP, WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH (connector = 'files', path = 'orders', format = 'json');

CREATE STREAM shipments (
  order_id BIGINT, carrier STRING, cost DECIMAL(10, 2), ship_time TIMESTAMP,
  WATERMARK FOR ship_time AS ship_time - INTERVAL '5' SECOND
) WITH (connector = 'files', path = 'shipments', format = 'json');

CREATE STREAM payments (
  order_id BIGINT, paid DECIMAL(10, 2), pay_time TIMESTAMP,
  WATERMARK FOR pay_time AS pay_time - INTERVAL '1' MINUTE
) WITH (connector = 'files', path = 'payments', format = 'json');

CREATE STREAM pageviews (
  viewtime TIMESTAMP, user_id BIGINT, page_id STRING,
  WATERMARK FOR viewtime AS viewtime - INTERVAL '10' SECOND
) WITH (connector = 'files', path = 'pageviews', format = 'json');

CREATE STREAM events (
  id BIGINT, kind STRING, tags ARRAY<STRING>, numbers ARRAY<INT>, props MAP<STRING, STRING>,
  address STRUCT<city: STRING, zip: STRING>, payload STRING, flag BOOLEAN, score DOUBLE, small INT, epoch BIGINT,
  day DATE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH (connector = 'files', path = 'events', format = 'json');

CREATE TABLE users (user_id BIGINT PRIMARY KEY, name STRING, region STRING, gender STRING)
WITH (connector = 'files', path = 'users', format = 'json', operation = 'op');

CREATE TABLE accounts (user_id BIGINT PRIMARY KEY, balance DECIMAL(12, 2), manager BIGINT)
WITH (connector = 'files', path = 'accounts', format = 'json', operation = 'op');

CREATE TABLE rates (
  currency STRING PRIMARY KEY, rate DECIMAL(10, 4), rate_time TIMESTAMP,
  WATERMARK FOR rate_time AS rate_time - INTERVAL '10' SECOND
) WITH (connector = 'files', path = 'rates', format = 'json', retention = INTERVAL '7' DAY);

CREATE TABLE customers (id BIGINT PRIMARY KEY, name STRING, region STRING)
WITH (connector = 'sqlite', path = 'shop.db', table = 'customers');

CREATE STREAM alerts (user_id BIGINT, product STRING, amount DECIMAL(10, 2))
WITH (connector = 'files', path = 'out/alerts', format = 'json');

CREATE STREAM bids_per_window (window_start TIMESTAMP, window_end TIMESTAMP, total BIGINT)
WITH (connector = 'files', path = 'out/bids_per_window', format = 'json');

CREATE TABLE user_totals (user_id BIGINT PRIMARY KEY, total DECIMAL(20, 2))
WITH (connector = 'files', path = 'out/user_totals', format = 'json', operation = 'op');
