SELECT auction, bidder, 0.908::DOUBLE * price AS price, time FROM bid;
