SELECT auction, price, bidder, time FROM bid
QUALIFY price = max(price) OVER (PARTITION BY time_bucket(INTERVAL 1 MINUTE, time));
