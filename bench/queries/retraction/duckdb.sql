SELECT category, count(*) AS items, sum(price)::BIGINT AS total, 'insert' AS op FROM item GROUP BY category;
