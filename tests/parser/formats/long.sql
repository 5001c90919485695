create stream recent as select stream id, product, time, avg(price) over (partition by product, region order by time range between interval '1' hour preceding and current row) as mean_price, case when price > 100 and product like 'a%' then 'large and of the first kind' when price > 10 then 'medium' else 'small' end as size from orders where (price > 100 and product = 'a product with a long name') or (price < 10 and product = 'another product') or product is null;
create view best as select concat_ws('-', upper(product), lower(region), cast(id as string), date_format(time, 'yyyy-MM-dd HH:mm:ss')) as name, transform(array(1,2,3), x->x+1) as numbers, map('a', 1)['a'] as one, address.city from orders;
select stream * from orders o join shipments s on o.id=s.order_id and s.time between o.time and o.time + interval '4' hour and s.carrier <> 'none' and s.weight < o.weight left join users u on u.id=o.user_id;
insert into alerts select stream user_id, product, amount from orders where user_id in (101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114);
create stream nested (id bigint, place struct<city string, zip string>, names map<string, array<int>>, price decimal(10,2), time timestamp) with (connector='files', path='nested', format='json');
select stream id::string as b, tags[0] as c, trim(both 'x' from d) as e, -id as f, (a, b) in ((1, 2), (3, 4)) as g from big;
-- ==== formatted
CREATE STREAM recent AS
SELECT STREAM
  id,
  product,
  time,
  avg(price) OVER (
    PARTITION BY product, region
    ORDER BY time
    RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW
  ) AS mean_price,
  CASE
    WHEN price > 100 AND product LIKE 'a%' THEN 'large and of the first kind'
    WHEN price > 10 THEN 'medium'
    ELSE 'small'
  END AS size
FROM orders
WHERE (price > 100 AND product = 'a product with a long name')
  OR (price < 10 AND product = 'another product')
  OR product IS NULL;

CREATE VIEW best AS
SELECT
  concat_ws(
    '-',
    upper(product),
    lower(region),
    cast(id AS string),
    date_format(time, 'yyyy-MM-dd HH:mm:ss')
  ) AS name,
  transform(array(1, 2, 3), x -> x + 1) AS numbers,
  map('a', 1)['a'] AS one,
  address.city
FROM orders;

SELECT STREAM *
FROM orders o
JOIN shipments s
  ON o.id = s.order_id
  AND s.time BETWEEN o.time AND o.time + INTERVAL '4' HOUR
  AND s.carrier <> 'none'
  AND s.weight < o.weight
LEFT JOIN users u ON u.id = o.user_id;

INSERT INTO alerts
SELECT STREAM user_id, product, amount
FROM orders
WHERE user_id IN (101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114);

CREATE STREAM nested (
  id bigint,
  place struct<city string, zip string>,
  names map<string, array<int>>,
  price decimal(10, 2),
  time timestamp
)
WITH (connector = 'files', path = 'nested', format = 'json');

SELECT STREAM
  id::string AS b,
  tags[0] AS c,
  trim(BOTH 'x' FROM d) AS e,
  -id AS f,
  (a, b) IN ((1, 2), (3, 4)) AS g
FROM big;
