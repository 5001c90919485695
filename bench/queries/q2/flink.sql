CREATE TABLE out_ (auction BIGINT, price BIGINT)
WITH ('connector' = 'filesystem', 'path' = '$out', 'format' = 'csv');

INSERT INTO out_
SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0;
