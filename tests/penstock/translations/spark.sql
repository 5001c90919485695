-- A notebook of Spark.
SET spark.sql.shuffle.partitions = 8;
USE shop;

CREATE TABLE IF NOT EXISTS shop.sales (
  id BIGINT COMMENT 'of the sale',
  product STRING,
  amount DECIMAL(10, 2),
  note VARCHAR(40)
) USING json LOCATION '/data/sales';

CREATE TABLE returns (id BIGINT, reason STRING) USING csv OPTIONS (path '/data/returns', header 'true');

CREATE TABLE stock (id BIGINT, pieces INT) USING delta;

CREATE OR REPLACE TEMP VIEW large AS
SELECT /*+ COALESCE(3) */ id, product, amount FROM sales WHERE amount > 100;

CREATE STREAMING TABLE small AS SELECT id, amount FROM STREAM(sales) WHERE amount < 10;

-- The best products.
CREATE OR REPLACE TEMPORARY VIEW totals AS
SELECT product, sum(amount) AS total, count_if(amount > 10) AS large_ones
FROM sales
GROUP BY product
HAVING sum(amount) > 1000;

CREATE VIEW initials AS SELECT id, substring(product FROM 1 FOR 1) AS initial, amount :: STRING AS text FROM sales;

SELECT product, count(*) FROM sales GROUP BY product ORDER BY 2 DESC LIMIT 10;

MERGE INTO stock USING sales ON stock.id = sales.id WHEN MATCHED THEN UPDATE SET pieces = 0;

CACHE TABLE large;
