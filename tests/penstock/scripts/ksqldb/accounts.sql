-- Tables joined with tables, by key and by reference.
CREATE TABLE accounts (account_id BIGINT PRIMARY KEY, owner BIGINT, balance DECIMAL(12, 2), opened DATE)
  WITH (KAFKA_TOPIC = 'accounts', VALUE_FORMAT = 'JSON', PARTITIONS = 6);

CREATE TABLE people (person_id BIGINT PRIMARY KEY, name VARCHAR, country VARCHAR)
  WITH (KAFKA_TOPIC = 'people', VALUE_FORMAT = 'JSON', PARTITIONS = 6);

CREATE TABLE limits (account_id BIGINT PRIMARY KEY, most DECIMAL(12, 2))
  WITH (KAFKA_TOPIC = 'limits', VALUE_FORMAT = 'JSON', PARTITIONS = 6);

CREATE TABLE limited AS
  SELECT a.account_id AS account_id, a.balance AS balance, l.most AS most
  FROM accounts a LEFT JOIN limits l ON a.account_id = l.account_id EMIT CHANGES;

CREATE TABLE owned AS
  SELECT a.account_id AS account_id, p.name AS name, p.country AS country, a.balance AS balance
  FROM accounts a JOIN people p ON a.owner = p.person_id EMIT CHANGES;

CREATE TABLE by_country AS
  SELECT country, COUNT(*) AS accounts, SUM(balance) AS balance FROM owned GROUP BY country EMIT CHANGES;

CREATE TABLE rich AS SELECT * FROM accounts WHERE balance > 1000000 EMIT CHANGES;
