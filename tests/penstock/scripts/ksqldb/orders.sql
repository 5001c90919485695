-- Orders and their shipments within a week; late shipments; customers by value.
CREATE STREAM orders (id INT KEY, customer_id INT, item VARCHAR, price DOUBLE, order_ts TIMESTAMP)
  WITH (KAFKA_TOPIC = 'orders', VALUE_FORMAT = 'JSON', PARTITIONS = 2, TIMESTAMP = 'order_ts');

CREATE STREAM shipments (id VARCHAR KEY, order_id INT, warehouse VARCHAR, ship_ts TIMESTAMP)
  WITH (KAFKA_TOPIC = 'shipments', VALUE_FORMAT = 'JSON', PARTITIONS = 2, TIMESTAMP = 'ship_ts');

CREATE STREAM shipped_orders AS
  SELECT o.id AS order_id, o.customer_id AS customer_id, s.id AS shipment_id, s.warehouse AS warehouse, o.item AS item
  FROM orders o
  INNER JOIN shipments s WITHIN 7 DAYS GRACE PERIOD 1 DAY ON o.id = s.order_id
  EMIT CHANGES;

CREATE TABLE customers_by_value AS
  SELECT customer_id, SUM(price) AS total, COUNT(*) AS orders, MAX(order_ts) AS last_order
  FROM orders GROUP BY customer_id HAVING SUM(price) > 1000 EMIT CHANGES;

CREATE TABLE items_sold AS
  SELECT item, COUNT_DISTINCT(customer_id) AS customers, TOPK(price, 3) AS best
  FROM orders GROUP BY item;
