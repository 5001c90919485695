CREATE TABLE out_ (auction BIGINT, bidder BIGINT, price DOUBLE, `time` TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = '$out', 'format' = 'csv');

INSERT INTO out_
SELECT auction, bidder, 0.908E0 * price AS price, `time` FROM bid;
