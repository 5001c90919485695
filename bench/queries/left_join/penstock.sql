CREATE STREAM out (auction BIGINT, bidder BIGINT, price BIGINT, time TIMESTAMP, item STRING, seller BIGINT)
WITH (connector = 'files', path = '$out', format = 'csv', header = false);

INSERT INTO out
SELECT STREAM b.auction AS auction, b.bidder AS bidder, b.price AS price, b.time AS time,
  a.item AS item, a.seller AS seller
FROM bid b LEFT JOIN auction a
  ON b.auction = a.id AND b.time >= a.time AND b.time <= a.time + INTERVAL '$length' $unit;
