SELECT auction, bidder, price, time, channel, url FROM bid;
