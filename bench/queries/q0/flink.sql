CREATE TABLE out_ (auction BIGINT, bidder BIGINT, price BIGINT, `time` TIMESTAMP(3), channel STRING, url STRING)
WITH ('connector' = 'filesystem', 'path' = '$out', 'format' = 'csv');

INSERT INTO out_
SELECT auction, bidder, price, `time`, channel, url FROM bid;
