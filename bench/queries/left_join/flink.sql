CREATE TABLE out_ (auction BIGINT, bidder BIGINT, price BIGINT, `time` TIMESTAMP(3), item STRING, seller BIGINT)
WITH ('connector' = 'filesystem', 'path' = '$out', 'format' = 'csv');

INSERT INTO out_
SELECT b.auction, b.bidder, b.price, b.`time`, a.item, a.seller
FROM bid b LEFT JOIN auction a
  ON b.auction = a.id AND b.`time` BETWEEN a.`time` AND a.`time` + INTERVAL '$length' $unit;
