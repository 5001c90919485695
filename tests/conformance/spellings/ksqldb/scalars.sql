-- Functions and operators of ksqlDB.

-- name: a field of a struct
CREATE STREAM cities AS SELECT id, address->city AS city FROM events;
-- same as
CREATE STREAM cities AS SELECT STREAM id, address.city AS city FROM events;

-- name: all fields of a struct
CREATE STREAM homes AS SELECT id, address->* FROM events;
-- same as
CREATE STREAM homes AS SELECT STREAM id, address.city, address.zip FROM events;

-- name: UCASE and LCASE
CREATE STREAM letters AS SELECT UCASE(kind) AS a, LCASE(kind) AS b FROM events;
-- same as
CREATE STREAM letters AS SELECT STREAM UCASE(kind) AS a, LCASE(kind) AS b FROM events;

-- name: LEN
CREATE STREAM lengths AS SELECT LEN(kind) AS n FROM events;
-- same as
CREATE STREAM lengths AS SELECT STREAM LEN(kind) AS n FROM events;

-- name: IFNULL
CREATE STREAM filled AS SELECT IFNULL(kind, 'none') AS kind FROM events;
-- same as
CREATE STREAM filled AS SELECT STREAM IFNULL(kind, 'none') AS kind FROM events;

-- name: text joined by plus
-- ksqlDB adds texts with +. Here + takes numbers and times.
CREATE STREAM named AS SELECT kind + '!' AS kind FROM events;
-- refused: T002, kind || '!'

-- name: CONCAT
CREATE STREAM named AS SELECT CONCAT(kind, '-', payload) AS name FROM events;
-- same as
CREATE STREAM named AS SELECT STREAM CONCAT(kind, '-', payload) AS name FROM events;

-- name: INSTR
CREATE STREAM found AS SELECT INSTR(kind, 'a') AS place FROM events;
-- same as
CREATE STREAM found AS SELECT STREAM INSTR(kind, 'a') AS place FROM events;

-- name: SPLIT
-- The delimiter of ksqlDB is a text, here it is a pattern; for a comma both are the same.
CREATE STREAM words AS SELECT SPLIT(payload, ',') AS words FROM events;
-- same as
CREATE STREAM words AS SELECT STREAM SPLIT(payload, ',') AS words FROM events;

-- name: EXTRACTJSONFIELD
CREATE STREAM read AS SELECT EXTRACTJSONFIELD(payload, '$.user.id') AS user_id FROM events;
-- same as
CREATE STREAM read AS SELECT STREAM GET_JSON_OBJECT(payload, '$.user.id') AS user_id FROM events;

-- name: JSON_ARRAY_LENGTH
CREATE STREAM counted AS SELECT JSON_ARRAY_LENGTH(payload) AS n FROM events;
-- same as
CREATE STREAM counted AS SELECT STREAM JSON_ARRAY_LENGTH(payload) AS n FROM events;

-- name: STRINGTOTIMESTAMP
-- ksqlDB gives milliseconds.
CREATE STREAM times AS SELECT STRINGTOTIMESTAMP(kind, 'yyyy-MM-dd HH:mm:ss') AS at FROM events;
-- same as
CREATE STREAM times AS SELECT STREAM UNIX_MILLIS(TO_TIMESTAMP(kind, 'yyyy-MM-dd HH:mm:ss')) AS at FROM events;

-- name: TIMESTAMPTOSTRING
CREATE STREAM times AS SELECT TIMESTAMPTOSTRING(epoch, 'yyyy-MM-dd HH:mm:ss') AS at FROM events;
-- same as
CREATE STREAM times AS
SELECT STREAM DATE_FORMAT(TIMESTAMP_MILLIS(epoch), 'yyyy-MM-dd HH:mm:ss') AS at FROM events;

-- name: FORMAT_TIMESTAMP
CREATE STREAM times AS SELECT FORMAT_TIMESTAMP(ts, 'yyyy-MM-dd') AS at FROM events;
-- same as
CREATE STREAM times AS SELECT STREAM DATE_FORMAT(ts, 'yyyy-MM-dd') AS at FROM events;

-- name: PARSE_TIMESTAMP
CREATE STREAM times AS SELECT PARSE_TIMESTAMP(kind, 'yyyy-MM-dd') AS at FROM events;
-- same as
CREATE STREAM times AS SELECT STREAM TO_TIMESTAMP(kind, 'yyyy-MM-dd') AS at FROM events;

-- name: FORMAT_DATE and PARSE_DATE
CREATE STREAM days AS SELECT FORMAT_DATE(day, 'yyyy-MM') AS month, PARSE_DATE(kind, 'yyyy-MM-dd') AS parsed FROM events;
-- same as
CREATE STREAM days AS
SELECT STREAM DATE_FORMAT(day, 'yyyy-MM') AS month, TO_DATE(kind, 'yyyy-MM-dd') AS parsed FROM events;

-- name: FROM_UNIXTIME of milliseconds
-- FROM_UNIXTIME of ksqlDB takes milliseconds and gives a time; here it takes seconds and gives a text.
CREATE STREAM times AS SELECT FROM_UNIXTIME(epoch) AS at FROM events;
-- same as
CREATE STREAM times AS SELECT STREAM FROM_UNIXTIME(epoch) AS at FROM events;

-- name: UNIX_TIMESTAMP without arguments
-- Milliseconds in ksqlDB, seconds here.
CREATE STREAM times AS SELECT UNIX_TIMESTAMP() AS now FROM events;
-- same as
CREATE STREAM times AS SELECT STREAM UNIX_SECONDS(CURRENT_TIMESTAMP()) AS now FROM events;

-- name: DATEADD
CREATE STREAM days AS SELECT DATEADD(DAYS, 2, day) AS later FROM events;
-- same as
CREATE STREAM days AS SELECT STREAM day + INTERVAL '2' DAY AS later FROM events;

-- name: TIMESTAMPADD
CREATE STREAM times AS SELECT TIMESTAMPADD(HOURS, 2, ts) AS later FROM events;
-- same as
CREATE STREAM times AS SELECT STREAM ts + INTERVAL '2' HOUR AS later FROM events;

-- name: ARRAY and MAP
CREATE STREAM made AS SELECT ARRAY[1, 2, 3] AS a, MAP('k' := 1) AS m FROM events;
-- same as
CREATE STREAM made AS SELECT STREAM ARRAY(1, 2, 3) AS a, MAP('k', 1) AS m FROM events;

-- name: ARRAY with brackets
CREATE STREAM made AS SELECT ARRAY[id, epoch] AS a FROM events;
-- same as
CREATE STREAM made AS SELECT STREAM ARRAY(id, epoch) AS a FROM events;

-- name: STRUCT with colons
CREATE STREAM made AS SELECT STRUCT(a := id, b := kind) AS s FROM events;
-- same as
CREATE STREAM made AS SELECT STREAM NAMED_STRUCT('a', id, 'b', kind) AS s FROM events;

-- name: ARRAY_CONTAINS, ARRAY_LENGTH and ARRAY_JOIN
CREATE STREAM looked AS
SELECT ARRAY_CONTAINS(tags, 'new') AS a, ARRAY_LENGTH(tags) AS b, ARRAY_JOIN(tags, ',') AS c FROM events;
-- same as
CREATE STREAM looked AS
SELECT STREAM ARRAY_CONTAINS(tags, 'new') AS a, ARRAY_SIZE(tags) AS b, ARRAY_JOIN(tags, ',') AS c FROM events;

-- name: an element of an array
-- ksqlDB counts from 1, Penstock and Spark from 0.
CREATE STREAM looked AS SELECT tags[1] AS tag FROM events;
-- warned: T020, TRY_ELEMENT_AT(tags, 1)
-- same as
CREATE STREAM looked AS SELECT STREAM tags[1] AS tag FROM events;

-- name: a value of a map
CREATE STREAM looked AS SELECT props['color'] AS color FROM events;
-- same as
CREATE STREAM looked AS SELECT STREAM props['color'] AS color FROM events;

-- name: lambdas
CREATE STREAM changed AS
SELECT TRANSFORM(tags, x => UCASE(x)) AS a, FILTER(tags, x => x LIKE 'a%') AS b, REDUCE(numbers, 0, (s, x) => s + x) AS c
FROM events;
-- same as
CREATE STREAM changed AS
SELECT STREAM TRANSFORM(tags, x -> UCASE(x)) AS a, FILTER(tags, x -> x LIKE 'a%') AS b,
  REDUCE(numbers, 0, (s, x) -> s + x) AS c
FROM events;

-- name: LATEST_BY_OFFSET
CREATE TABLE latest AS SELECT user_id, LATEST_BY_OFFSET(product) AS product FROM orders GROUP BY user_id EMIT CHANGES;
-- refused: N005, MAX_BY

-- name: EARLIEST_BY_OFFSET
CREATE TABLE earliest AS SELECT user_id, EARLIEST_BY_OFFSET(product) AS product FROM orders GROUP BY user_id EMIT CHANGES;
-- refused: N005, MIN_BY

-- name: COUNT_DISTINCT
CREATE TABLE products AS SELECT user_id, COUNT_DISTINCT(product) AS num FROM orders GROUP BY user_id EMIT CHANGES;
-- same as
CREATE TABLE products AS SELECT user_id, COUNT(DISTINCT product) AS num FROM orders GROUP BY user_id;

-- name: COLLECT_LIST
CREATE TABLE products AS SELECT user_id, COLLECT_LIST(product) AS products FROM orders GROUP BY user_id EMIT CHANGES;
-- refused: W044, TUMBLE

-- name: COLLECT_LIST of a window
CREATE TABLE products AS SELECT user_id, COLLECT_LIST(product) AS products
FROM orders WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY user_id EMIT CHANGES;
-- same as
CREATE TABLE products AS SELECT user_id, COLLECT_LIST(product) AS products
FROM orders GROUP BY user_id, TUMBLE(order_time, INTERVAL '1' HOUR) EMIT CHANGES;

-- name: COLLECT_SET
CREATE TABLE products AS SELECT user_id, COLLECT_SET(product) AS products FROM orders GROUP BY user_id EMIT CHANGES;
-- same as
CREATE TABLE products AS SELECT user_id, COLLECT_SET(product) AS products FROM orders GROUP BY user_id;

-- name: TOPK
CREATE TABLE best AS SELECT user_id, TOPK(amount, 3) AS best FROM orders GROUP BY user_id EMIT CHANGES;
-- same as
CREATE TABLE best AS SELECT user_id, TOPK(amount, 3) AS best FROM orders GROUP BY user_id;

-- name: TOPKDISTINCT
CREATE TABLE best AS SELECT user_id, TOPKDISTINCT(amount, 3) AS best FROM orders GROUP BY user_id EMIT CHANGES;
-- same as
CREATE TABLE best AS SELECT user_id, TOPKDISTINCT(amount, 3) AS best FROM orders GROUP BY user_id;

-- name: HISTOGRAM
CREATE TABLE counts AS SELECT user_id, HISTOGRAM(product) AS counts FROM orders GROUP BY user_id EMIT CHANGES;
-- refused: N005

-- name: STDDEV_SAMP, MIN, MAX and AVG
CREATE TABLE figures AS
SELECT user_id, STDDEV_SAMP(quantity) AS a, MIN(amount) AS b, MAX(amount) AS c, AVG(quantity) AS d
FROM orders GROUP BY user_id EMIT CHANGES;
-- same as
CREATE TABLE figures AS
SELECT user_id, STDDEV_SAMP(quantity) AS a, MIN(amount) AS b, MAX(amount) AS c, AVG(quantity) AS d
FROM orders GROUP BY user_id;

-- name: MASK
CREATE STREAM hidden AS SELECT MASK(kind, 'X', 'x', 'n', '-') AS kind FROM events;
-- same as
CREATE STREAM hidden AS SELECT STREAM MASK(kind, 'X', 'x', 'n', '-') AS kind FROM events;

-- name: URL functions
CREATE STREAM urls AS SELECT URL_EXTRACT_HOST(payload) AS host, URL_EXTRACT_PARAMETER(payload, 'q') AS q FROM events;
-- refused: N005

-- name: random values
CREATE STREAM drawn AS SELECT RANDOM() AS r FROM events;
-- refused: N005

-- name: GEO_DISTANCE
CREATE STREAM far AS SELECT GEO_DISTANCE(score, score, 1.0, 2.0) AS d FROM events;
-- refused: N005, SIN, COS and ASIN compute distances

-- name: ABS, CEIL, FLOOR, ROUND, SQRT, SIGN, EXP, LN
CREATE STREAM figures AS
SELECT ABS(score) AS a, CEIL(score) AS b, FLOOR(score) AS c, ROUND(score, 2) AS d, SQRT(score) AS e, SIGN(score) AS f,
  EXP(score) AS g, LN(score) AS h
FROM events;
-- same as
CREATE STREAM figures AS
SELECT STREAM ABS(score) AS a, CEIL(score) AS b, FLOOR(score) AS c, ROUND(score, 2) AS d, SQRT(score) AS e,
  SIGN(score) AS f, EXP(score) AS g, LN(score) AS h
FROM events;
